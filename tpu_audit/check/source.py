"""A file to check: where it is, what it is called, and its bytes."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from tpu_audit.check.result import Gap

_MEGABYTE = 1 << 20
MAX_BYTES = {"notebook": 64 * _MEGABYTE}
DEFAULT_MAX_BYTES = 5 * _MEGABYTE
"""Files above are data or generated; reading one may take minutes."""


def read_bytes(path: str, kind: str | None) -> bytes | Gap:
    """Return a file's bytes, or why there are none."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            return Gap("not_a_file", "it is not a regular file")
        if gap := too_large(status.st_size, kind):
            return gap
        with open(path, "rb") as file:
            return file.read()
    except PermissionError:
        return Gap("permission", "no permission to read it")
    except OSError as error:
        return Gap("unreadable", error.strerror or str(error))


def too_large(size: int, kind: str | None) -> Gap | None:
    """Return the reason when a file of ``size`` bytes is not read."""
    limit = MAX_BYTES.get(kind or "", DEFAULT_MAX_BYTES)
    if size <= limit:
        return None
    return Gap("too_large", f"{size / _MEGABYTE:.0f} MB, and at most {limit // _MEGABYTE} are read")


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A file to check."""

    path: str
    """Where it is."""
    shown: str
    """How reports name it: relative to the working folder where it lies below."""
    logical: str
    """Its path within what was asked for: what patterns and the judgement of tests look at."""
    explicit: bool = False
    """Named itself, not found in a folder."""
