"""The answer of a probe."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Health(StrEnum):
    """How something is."""

    OK = "ok"
    WARNING = "warning"
    """Something works less well, or not at all that ``scan`` can do without."""
    BROKEN = "broken"
    """``scan`` cannot work."""
    INFO = "info"


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One thing looked at."""

    name: str
    health: Health
    detail: str
    hint: str | None = None
