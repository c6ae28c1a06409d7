"""The file through which a verification survives the process that runs it.

JSON lines, appended and flushed one by one. Each holds the result of one step under its stage and a
key; the latest of a key counts. Results also carry a signature of what made them: those of another
signature are passed over and made again. A line that a kill tore is dropped.
"""

from __future__ import annotations

import fcntl
import json
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any, Self

from op_registry.errors import RegistryError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from types import TracebackType

Key = tuple[str, ...]


class Journal:
    """What is known so far, by stage and key. Threads may share it.

    ``signatures`` names, for each stage, what makes its results. Opening raises RegistryError when
    the file cannot be read or written, or another process has it open.
    """

    def __init__(self, path: Path, signatures: Mapping[str, str]) -> None:
        self._signatures = dict(signatures)
        self._lock = threading.Lock()
        self._known: dict[str, dict[Key, Any]] = {stage: {} for stage in signatures}
        self.outdated: Counter[str] = Counter()
        """Stage -> lines passed over because something else made them."""
        try:
            self._file = path.open("a+b")
        except OSError as error:
            raise RegistryError(f"the journal {str(path)!r} cannot be opened: {error}") from error
        try:
            self._claim(path)
            self._load(path)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        """Return the journal itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; all that was put is in it."""
        self._file.close()

    def get(self, stage: str, key: Key) -> Any:
        """Return what ``stage`` found for ``key``, None when it has not yet."""
        return self._known[stage].get(key)

    def items(self, stage: str) -> Iterator[tuple[Key, Any]]:
        """Yield all that ``stage`` found, by sorted keys."""
        yield from sorted(self._known[stage].items())

    def put(self, stage: str, key: Key, value: Any) -> None:
        """Keep ``value``, JSON, as what ``stage`` found for ``key``."""
        line = [stage, self._signatures[stage], list(key), value]
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
        with self._lock:
            self._known[stage][key] = value
            self._file.write(text.encode())
            self._file.flush()

    def _claim(self, path: Path) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            message = f"another verification works on {str(path)!r}"
            hint = "wait for it, stop it, or name another folder with --work-dir"
            raise RegistryError(message, hint=hint) from error

    def _load(self, path: Path) -> None:
        self._file.seek(0)
        whole = 0
        for number, line in enumerate(self._file, 1):
            if not line.endswith(b"\n"):
                break
            self._take(line, f"{path}:{number}")
            whole += len(line)
        self._file.truncate(whole)

    def _take(self, line: bytes, where: str) -> None:
        try:
            stage, signature, key, value = json.loads(line)
        except ValueError as error:
            message = f"{where}: not a line of a journal: {error}"
            hint = "remove the file to begin afresh, or name another folder with --work-dir"
            raise RegistryError(message, hint=hint) from error
        if self._signatures.get(stage) == signature:
            self._known[stage][tuple(key)] = value
        else:
            self.outdated[stage] += 1
