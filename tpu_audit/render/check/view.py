"""What every format of a checker's report offers, and how its reader looks at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tpu_audit.render.interface import View

if TYPE_CHECKING:
    from tpu_audit.types.check import CheckReport


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckView(View):
    """How the reader looks at a checker's report."""

    statistics: bool = False
    """Counts by rule instead of the findings."""
    show_suppressed: bool = False
    """List what comments and settings left out."""


class CheckRenderer(Protocol):
    """A format of the checker's report."""

    def render(self, report: CheckReport, view: CheckView) -> str:
        """Return the whole report as text; empty, or ending in a newline."""
        ...
