"""What hub ids resolved to, kept so that a repeat asks nobody and imports nothing heavy.

One JSON file per (endpoint, id, revision) in ``resolutions/`` of the cache; files appear whole or
not at all. A slow failure to reach the hub is remembered too, for :data:`OUTAGE_S` seconds.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tpu_audit.sources.options import hub_endpoint
from tpu_audit.sources.target import COMMIT
from tpu_audit.types.model import ModelSpec

if TYPE_CHECKING:
    from tpu_audit.sources.target import HubTarget

OUTAGE_S = 60.0
"""Seconds for which a slow failure to reach the hub is believed: the most that a hub that comes
back is missed for."""
OUTAGE_WORTH_S = 0.5
"""Failures quicker than this are not remembered: asking again costs next to nothing."""

_FORMAT = 2
"""Raised whenever ModelSpec or its parsing changes; other records are ignored."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """An earlier answer of the hub."""

    spec: ModelSpec
    time: float
    """When the hub gave it, seconds since the epoch."""
    immutable: bool
    """It was asked for by full commit."""

    def is_fresh(self, fresh_for_s: float) -> bool:
        """Tell whether it need not be asked for again. A record from the future is not trusted."""
        return self.immutable or 0 <= time.time() - self.time < fresh_for_s


class RecordStore:
    """Records below one folder. Unwritable folders and broken records only cost speed."""

    def __init__(self, cache_dir: Path) -> None:
        self._folder = cache_dir / "resolutions"

    def load(self, target: HubTarget) -> Record | None:
        """Give the answer kept for this id and revision at the current endpoint, if any."""
        data = self._read(self._path(target))
        if data is None or data.get("key") != _key(target):
            return None
        with contextlib.suppress(TypeError, ValueError, KeyError):
            spec = dataclasses.replace(_spec_from(data["spec"]), target=target.text)
            files = (*spec.code_files.values(), *spec.index_files.values())
            if all(Path(path).exists() for path in files):
                immutable = COMMIT.fullmatch(target.revision or "") is not None
                return Record(spec=spec, time=float(data["time"]), immutable=immutable)
        return None

    def save(self, target: HubTarget, spec: ModelSpec) -> None:
        """Keep an answer the hub has just given."""
        content = {"key": _key(target), "time": time.time(), "spec": dataclasses.asdict(spec)}
        self._write(self._path(target), content)

    def recent_outage(self) -> str | None:
        """Why the current endpoint was found unreachable less than OUTAGE_S ago, if it was."""
        data = self._read(self._outage_path()) or {}
        seen = data.get("time")
        if data.get("endpoint") != hub_endpoint() or not isinstance(seen, int | float):
            return None
        age = time.time() - seen
        if not 0 <= age < OUTAGE_S:
            return None
        return f"{data.get('reason')}, found {age:.0f} s ago; not asked again for {OUTAGE_S:.0f} s"

    def save_outage(self, reason: str) -> None:
        """Remember that the current endpoint cannot be reached."""
        content = {"endpoint": hub_endpoint(), "time": time.time(), "reason": reason}
        self._write(self._outage_path(), content)

    def _path(self, target: HubTarget) -> Path:
        digest = hashlib.sha256("\n".join(_key(target)).encode()).hexdigest()
        return self._folder / f"{digest[:32]}.json"

    def _outage_path(self) -> Path:
        return self._folder / "outage.json"

    def _read(self, path: Path) -> dict[str, Any] | None:
        try:
            data = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        return data if isinstance(data, dict) and data.get("format") == _FORMAT else None

    def _write(self, path: Path, content: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # a full or read-only disk must not stop a scan
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", dir=self._folder, suffix=".tmp", delete=False, encoding="utf-8"
            ) as file:
                json.dump({"format": _FORMAT, **content}, file)
            Path(file.name).replace(path)


def _key(target: HubTarget) -> list[str]:
    return [hub_endpoint(), target.id, target.revision or ""]


def _spec_from(data: dict[str, Any]) -> ModelSpec:
    from pydantic import TypeAdapter

    spec: ModelSpec = TypeAdapter(ModelSpec).validate_python(data)
    return spec
