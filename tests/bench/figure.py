"""A measured number, its limit, and the page that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.census.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_HEADER = ("what", "measured", "limit", "detail")


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One measured number and its limit."""

    what: str
    value: float
    unit: str
    limit: float | None = None
    """The most that it may be; None for a number that is only told."""
    least: float | None = None
    """The least that it may be."""
    detail: str = ""

    @property
    def missed(self) -> bool:
        """Whether it is beyond its limit."""
        over = self.limit is not None and self.value > self.limit
        return over or (self.least is not None and self.value < self.least)


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """Figures that were measured in one way."""

    title: str
    method: str
    """What was run and compared, in Markdown."""
    figures: tuple[Figure, ...]

    def page(self) -> str:
        """Return the section in Markdown."""
        rows = table(_HEADER, map(_row, self.figures)) if self.figures else ""
        return f"## {self.title}\n\n{self.method}\n\n{rows}".rstrip() + "\n"


def _row(figure: Figure) -> Sequence[str]:
    digits = ".3g" if figure.value < 100 else ".0f"
    return (
        figure.what,
        f"{figure.value:{digits}} {figure.unit}",
        _bounds(figure),
        figure.detail,
    )


def _bounds(figure: Figure) -> str:
    if figure.least is not None:
        return f"at least {figure.least:g} {figure.unit}"
    return "" if figure.limit is None else f"{figure.limit:g} {figure.unit}"


def spread(numbers: Iterable[float], unit: str = "") -> str:
    """Return the least and the most of some numbers."""
    ordered = sorted(numbers)
    return f"{ordered[0]:.2f} to {ordered[-1]:.2f} {unit}".strip()
