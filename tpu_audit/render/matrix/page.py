"""The matrix as one HTML page: nothing to fetch, and readable without JavaScript."""

from __future__ import annotations

import html
import json
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from op_registry.evidence import DTYPES
from op_registry.schema import Support
from tpu_audit.render.matrix.cells import ADDED, MEANINGS, Mark, rows
from tpu_audit.render.matrix.counts import by_dtype
from tpu_audit.render.text import clean
from tpu_audit.types.proof import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from op_registry.schema import Snapshot
    from tpu_audit.render.matrix.cells import Cell, Row

_TEMPLATE = Path(__file__).with_name("page.html")
_CLASSES = {Mark.UNTRIED: "none"}
"""Marks whose word is no name of a class."""


def render(snapshot: Snapshot) -> str:
    """Return the page; every text of the registry in it is escaped."""
    shown = rows(snapshot)
    template = Template(_TEMPLATE.read_text(encoding="utf-8"))
    return template.substitute(
        title=_text(f"{snapshot.package} {snapshot.version}: evidence by op and dtype"),
        made=_text(made(snapshot)),
        legend="\n".join(_legend()),
        counts="\n".join(_counts(snapshot)),
        about=_text(about(shown)),
        supports=_options((support, support) for support in (Support.NATIVE, Support.MISSING)),
        dtypes=_options((str(place), dtype) for place, dtype in enumerate(DTYPES)),
        marks=_options([*((_class(m), m) for m in Mark), *((added, added) for added in ADDED)]),
        header="".join(f"<th scope=col>{_text(name)}</th>" for name in _header()),
        rows="\n".join(map(_row, shown)),
        order=json.dumps([_class(mark) for mark in Mark]),
    )


def made(snapshot: Snapshot) -> str:
    """Return what the registry was extracted with, in a sentence."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(snapshot.versions.items()))
    return f"Registry of {versions}; digest {snapshot.digest}."


def about(shown: list[Row]) -> str:
    """Return what the rows are, in a sentence."""
    native = sum(row.support is Support.NATIVE for row in shown)
    return (
        f"{native:,} op overloads with a TPU kernel, and {len(shown) - native:,} without one that "
        "have a reference kernel. A mark's title counts the samples that passed each step."
    )


def _header() -> tuple[str, ...]:
    return ("op", "support", *DTYPES, "reference", "details")


def _legend() -> Iterable[str]:
    for mark, text in MEANINGS.items():
        yield f"<tr><td class={_class(mark)}>{_text(mark)}</td><td>{_text(text)}</td></tr>"
    for added, text in ADDED.items():
        yield f"<tr><td>{_text(added)}</td><td>{_text(text)}</td></tr>"


def _counts(snapshot: Snapshot) -> Iterable[str]:
    names = "".join(f"<th scope=col>{stand}</th>" for stand in Standing)
    yield f"<thead><tr><th scope=col>dtype</th>{names}</tr></thead><tbody>"
    for dtype, counts in by_dtype(snapshot).items():
        numbers = "".join(f"<td class=amount>{number:,}</td>" for number in counts.values())
        yield f"<tr><th scope=row>{_text(dtype)}</th>{numbers}</tr>"
    yield "</tbody>"


def _row(row: Row) -> str:
    cells = "".join(map(_cell, row.cells))
    title = f' title="{_text(row.checks)}"' if row.checks else ""
    items = "".join(f"<li>{_text(text)}" for text in row.details)
    summary = f"<summary>{len(row.details)}</summary>"
    details = f"<details>{summary}<ul>{items}</ul></details>" if items else ""
    return (
        f"<tr><th scope=row>{_text(row.op)}</th><td>{row.support}</td>{cells}"
        f"<td{title}>{_text(row.reference)}</td><td>{details}</td></tr>"
    )


def _cell(cell: Cell) -> str:
    title = f' title="{_text(cell.counts)}"' if cell.counts else ""
    return f"<td class={_class(cell.mark)}{title}>{cell.mark}{cell.added}</td>"


def _class(mark: Mark) -> str:
    return _CLASSES.get(mark, mark.value)


def _options(choices: Iterable[tuple[str, str]]) -> str:
    return "".join(f'<option value="{_text(v)}">{_text(text)}</option>' for v, text in choices)


def _text(text: str) -> str:
    return html.escape(clean(text))
