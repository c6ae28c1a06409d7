"""Reads huggingface_hub's cache when the hub itself is not asked.

The layout (``models--org--name/refs/REV`` -> commit, ``snapshots/COMMIT/``) is documented by
huggingface_hub; reading it here needs only its constants, which import in milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tpu_audit.sources.target import COMMIT, MARKERS
from tpu_audit.types.errors import MissingExtraError


@dataclass(frozen=True, kw_only=True, slots=True)
class CachedSnapshot:
    """A commit of which at least the file that says what the model is, is cached."""

    id: str
    commit: str
    folder: Path
    time: float
    """When it was learnt that the revision is this commit, seconds since the epoch."""


def find_cached(repo_id: str, revision: str | None) -> CachedSnapshot | None:
    """Find the cached snapshot of a branch, tag or full commit, if its config is there.

    Files fetched by commit leave no ref behind: then the newest snapshot stands for the default
    branch.
    """
    root = _cache_root() / f"models--{repo_id.replace('/', '--')}"
    wanted = revision or "main"
    ref = root / "refs" / wanted
    try:
        if revision is None and not ref.exists():
            return _newest(repo_id, root / "snapshots")
        commit = wanted if COMMIT.fullmatch(wanted) else ref.read_text("utf-8").strip()
        folder = root / "snapshots" / commit
        known_since = folder if commit == wanted else ref
        return _snapshot(repo_id, folder, known_since.stat().st_mtime)
    except (OSError, ValueError):
        return None


def _snapshot(repo_id: str, folder: Path, time: float) -> CachedSnapshot | None:
    described = any((folder / marker).is_file() for marker in MARKERS)
    if not COMMIT.fullmatch(folder.name) or not described:
        return None
    return CachedSnapshot(id=repo_id, commit=folder.name, folder=folder, time=time)


def _newest(repo_id: str, snapshots: Path) -> CachedSnapshot | None:
    found = (_snapshot(repo_id, f, f.stat().st_mtime) for f in snapshots.iterdir())
    return max((s for s in found if s), key=lambda s: s.time, default=None)


def require_client() -> None:
    """Raise MissingExtraError where huggingface_hub is not installed; import nothing."""
    if find_spec("huggingface_hub") is None:
        raise MissingExtraError(
            "models of the hub need huggingface_hub, which is not installed",
            hint='pip install "tpu-audit[scan]"',
        )


def _cache_root() -> Path:
    require_client()
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)
