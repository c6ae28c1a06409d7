"""Errors a person can act on: what went wrong, with which value, how to fix it, which exit code."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Any, ClassVar


class ExitCode(IntEnum):
    """Exit codes of every command."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    INCOMPLETE = 3
    INTERNAL = 4
    INTERRUPTED = 130


class Stage(StrEnum):
    """Where on the corridor a target stopped."""

    RESOLVE = "resolve"
    CONFIG = "config"
    BUILD = "build"
    INPUTS = "inputs"
    TRACE = "trace"
    AUDIT = "audit"


class TpuAuditError(Exception):
    """Base of all errors this tool raises on purpose.

    ``hint`` is a sentence, or a command, that helps; ``exit_code`` is the process's answer.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.USAGE

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def fields(self) -> dict[str, Any]:
        """Return the arguments that make this error again, since keyword ones do not pickle."""
        return {"message": self.message, "hint": self.hint}


class UsageError(TpuAuditError):
    """The invocation, a setting or an input file is wrong."""


class MissingExtraError(TpuAuditError):
    """The command needs an optional part: ``pip install "tpu-audit[scan]"``."""


class NotAuditedError(TpuAuditError):
    """One target could not be audited; the others go on.

    ``code`` is a stable slug (``gated``, ``not_found``, ``timeout``...), ``skipped`` tells a
    deliberate skip (nothing to trace, e.g. a GGUF-only repository) from a failure.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.INCOMPLETE

    def __init__(
        self,
        message: str,
        *,
        stage: Stage,
        code: str,
        skipped: bool = False,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.stage = stage
        self.code = code
        self.skipped = skipped

    def fields(self) -> dict[str, Any]:
        """Return the arguments that make this error again."""
        own = {"stage": self.stage, "code": self.code, "skipped": self.skipped}
        return {**super().fields(), **own}


class TargetNotFoundError(NotAuditedError):
    """No such model or path: an input error, so exit code 2 rather than 3."""

    exit_code: ClassVar[ExitCode] = ExitCode.USAGE


def shorten(error: BaseException, limit: int = 300) -> str:
    """Return the type and text of a foreign error on one line of at most ``limit`` characters."""
    text = " ".join(str(error).split())
    text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= limit else text[: limit - 3] + "..."
