"""What every report format offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tpu_audit.types.report import Report


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """How the reader looks at the report; formats for machines ignore it."""

    width: int = 100
    """Columns to fill."""
    color: bool = False
    """ANSI colours are welcome."""
    verbosity: int = 0
    """-1: verdict lines only, 0: one screen, 1: everything."""


class Renderer(Protocol):
    """A report format."""

    def render(self, report: Report, view: View) -> str:
        """Return the whole report as text that ends in a newline."""
        ...
