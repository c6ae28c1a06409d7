"""What a reader raises when a file is not what its name says."""

from __future__ import annotations

from tpu_audit.types.errors import TpuAuditError

MAX_DEPTH = 200
"""Containers in containers that a reader follows: each entry carries all the keys above it."""


class NotReadableError(TpuAuditError):
    """The file cannot be read as its format; ``message`` says why, ``line`` where, if known."""

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line
