"""Names the environment: versions, and one hash over the files of the backend's wheel."""

from __future__ import annotations

import hashlib
import platform
from importlib import metadata

PACKAGE = "torch-tpu"
_LIBRARIES = ("torch", PACKAGE, "libtpu")
_INSTALLER = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json")
"""Files of the dist-info folder that the installer writes, not the wheel."""


def versions() -> dict[str, str]:
    """Return the full versions of all that decides the table."""
    found = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def record_sha256() -> str:
    """Return the SHA-256 over the sorted RECORD rows of the wheel's own files.

    What an installer adds (compiled bytecode, scripts outside the package, its notes) differs from
    machine to machine and is left out.
    """
    rows = (metadata.distribution(PACKAGE).read_text("RECORD") or "").splitlines()
    kept = sorted(row for row in rows if _is_the_wheels(row.split(",")[0]))
    return hashlib.sha256("\n".join(kept).encode()).hexdigest()


def _is_the_wheels(path: str) -> bool:
    installer = "dist-info/" in path and path.rsplit("/", 1)[-1] in _INSTALLER
    return not (installer or path.endswith(".pyc") or path.startswith(".."))
