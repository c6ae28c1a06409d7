"""What a finding code is: the entry that ``explain`` shows and findings point at."""

from __future__ import annotations

from dataclasses import dataclass

from tpu_audit.types.report import Severity


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """One stable finding code and its documentation."""

    code: str
    """``TPA901``. Never reused, never renamed."""
    name: str
    """Names the pattern that is found: ``missing-op``."""
    severity: Severity
    """Severity where nothing about the call says otherwise."""
    summary: str
    """What it means, one or two sentences."""
    why: str
    """Why it matters on a TPU."""
    fix: str
    """What to do, where nothing more specific is known."""
    references: tuple[str, ...] = ()
    """Where the behaviour can be read or seen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What a model's config alone shows."""

    severity: Severity
    message: str
    fix: str
