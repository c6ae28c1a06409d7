"""What the console report is written on: a rich console over a string, and its few shapes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tpu_audit.render.text import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tpu_audit.render.interface import View

LABEL_WIDTH = 11
"""Columns of the labels on the left and of the gap behind them."""


class Paper:
    """Collects the lines of a report; every string is made safe before it is set."""

    def __init__(self, view: View) -> None:
        self._buffer = io.StringIO()
        self._console = Console(
            file=self._buffer,
            width=max(view.width, 40),
            force_terminal=view.color,
            color_system="standard" if view.color else None,
            no_color=not view.color,
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
            _environ={},
        )

    def text(self) -> str:
        """Return what was written, without blanks at the ends of lines."""
        lines = self._buffer.getvalue().splitlines()
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def line(self, *parts: str | tuple[str, str]) -> None:
        """Write one paragraph of strings and (string, style) pairs."""
        self._print(_text(*parts))

    def blank(self) -> None:
        """Write an empty line."""
        self._console.print()

    def labelled(self, label: str | tuple[str, str], *parts: str | tuple[str, str]) -> None:
        """Write ``label`` and a paragraph that keeps to the column on its right."""
        table = Table.grid()  # without rich's padding, which its versions do not agree on
        table.add_column(width=LABEL_WIDTH, no_wrap=True)
        table.add_column(overflow="fold")
        table.add_row(_text(label if isinstance(label, tuple) else (label, "dim")), _text(*parts))
        self._print(Padding(table, (0, 0, 0, 2)))

    def table(
        self, header: Sequence[str], rows: Sequence[Sequence[str | tuple[str, str]]], *, text: int
    ) -> None:
        """Write a table whose first ``text`` columns are words and the others numbers."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for index, name in enumerate(header):
            justify = "left" if index < text else "right"
            table.add_column(clean(name), justify=justify, overflow="fold", no_wrap=index >= text)  # type: ignore[arg-type]  # rich's own literal
        for row in rows:
            table.add_row(*(_text(cell) for cell in row))
        self._print(Padding(table, (0, 0, 0, 2)))

    def _print(self, renderable: RenderableType) -> None:
        self._console.print(renderable, soft_wrap=False)


def _text(*parts: str | tuple[str, str]) -> Text:
    text = Text()
    for part in parts:
        string, style = part if isinstance(part, tuple) else (part, "")
        text.append(clean(string), style=style or None)
    return text
