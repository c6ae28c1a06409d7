"""Writes a repaired file whole or not at all, with the permissions of the old one."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from tpu_audit.types.errors import UsageError


def write_bytes(path: str, before: bytes, after: bytes) -> None:
    """Replace the content ``before`` by ``after``; a link stays one. Raises UsageError.

    A file that somebody has changed meanwhile is left as it is.
    """
    target = Path(path).resolve()
    try:
        if target.read_bytes() != before:
            hint = "run the command again"
            raise UsageError(f"{path} was changed while it was repaired; not written", hint=hint)
        _replace(target, after)
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(f"cannot write {path}: {why}", hint="check its permissions") from error


def _replace(target: Path, data: bytes) -> None:
    status = target.stat()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(stat.S_IMODE(status.st_mode))
        with suppress(OSError):  # only root may give files away
            os.chown(name, status.st_uid, status.st_gid)
        Path(name).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
