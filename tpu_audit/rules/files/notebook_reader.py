"""Notebooks: the code cells as one Python module, their shell lines as one script."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpu_audit.rules.files.errors import NotReadableError
from tpu_audit.rules.files.json_reader import scan
from tpu_audit.rules.files.magics import cell_kind, line_kind
from tpu_audit.rules.files.pieces import Assembly, Mapped

if TYPE_CHECKING:
    from tpu_audit.rules.files.document import Entry, Key
    from tpu_audit.rules.text import SourceText

_CHARACTER = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
MAX_CODE = 2_000_000
"""Characters of code that are read, each with its place; outputs may be as large as they are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Notebook:
    """What a notebook runs: positions lead back into the file."""

    python: Mapped
    """All code cells in order, so that a name imported in one is known in the next."""
    shell: Mapped
    """``!`` lines, ``%pip`` and ``%%bash`` cells."""
    unparsed: tuple[int, ...] = ()
    """Lines of the file where cells begin that are not Python; they were left out."""


@dataclass(slots=True)
class _Cell:
    text: str
    places: list[int]
    ends: list[int]


def read(source: SourceText) -> Notebook:
    """Read a notebook. Raises ``NotReadableError`` when it is not one."""
    entries = scan(source)
    if not any(entry.keys == ("cells",) for entry in entries):
        raise NotReadableError("not a notebook of format 4: it has no 'cells'")
    cells = [_cell(source, parts) for parts in _code_cells(entries)]
    python, shell, unparsed = Assembly(), Assembly(), []
    split = [_split(cell) for cell in cells]
    whole = _parses("".join("".join(part.chars) for part, _ in split))
    for cell, (code, script) in zip(cells, split, strict=True):
        if whole or _parses("".join(code.chars)):
            _extend(python, code)
        elif cell.places:
            unparsed.append(source.position(cell.places[0])[0])
        _extend(shell, script)
    return Notebook(
        python=Mapped(source, python), shell=Mapped(source, shell), unparsed=tuple(unparsed)
    )


def escape(text: str) -> str:
    """Return ``text`` as it stands inside a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _code_cells(entries: tuple[Entry, ...]) -> list[list[Entry]]:
    """Return the strings of each cell of code."""
    code: set[Key] = set()
    strings: dict[Key, list[Entry]] = {}
    for entry in entries:
        match entry.keys:
            case ("cells", place, "cell_type") if entry.value == "code":
                code.add(place)
            case ("cells", place, "source", *_) if isinstance(entry.value, str):
                strings.setdefault(place, []).append(entry)
    cells = [parts for place, parts in strings.items() if place in code]
    size = sum(len(str(part.value)) for parts in cells for part in parts)
    if size > MAX_CODE:
        message = f"its code has {size:,} characters, and at most {MAX_CODE:,} are read"
        raise NotReadableError(message)
    return cells


def _cell(source: SourceText, parts: list[Entry]) -> _Cell:
    """Decode the strings of a cell, with the place of each character."""
    cell = _Cell(text="", places=[], ends=[])
    texts = []
    for entry in parts:
        start = source.index(entry.span.line, entry.span.column) + 1
        end = source.index(entry.span.end_line, entry.span.end_column) - 1
        text = str(entry.value)
        if end - start == len(text):  # nothing is escaped
            cell.places += range(start, end)
            cell.ends += range(start + 1, end + 1)
        else:
            marks = list(_CHARACTER.finditer(source.text, start, end))
            cell.places += (mark.start() for mark in marks)
            cell.ends += (mark.end() for mark in marks)
        texts.append(text)
    cell.text = "".join(texts)
    return cell


def _split(cell: _Cell) -> tuple[Assembly, Assembly]:
    """Return the Python and the shell of a cell; each ends with a line end."""
    python, shell = Assembly(), Assembly()
    kind, start = cell_kind(cell.text)
    if kind != "python":
        if kind == "shell":
            _copy(shell, cell, start, len(cell.text))
        return python, shell
    for match in _LINE.finditer(cell.text, start):
        _take_line(python, shell, cell, match)
    return python, shell


def _take_line(python: Assembly, shell: Assembly, cell: _Cell, match: re.Match[str]) -> None:
    line = match.group()
    indent = len(line) - len(line.lstrip(" \t"))
    kind = line_kind(line[indent:])
    if kind.kind == "python":
        _copy(python, cell, match.start(), match.start() + indent, ends=False)
        _copy(python, cell, match.start() + indent + kind.skip, match.end())
        return
    # A block whose only line is a magic needs a statement all the same.
    python.fill(line[:indent] + "pass\n", cell.places[match.start()])
    if kind.kind == "shell":
        _copy(shell, cell, match.start() + indent + kind.skip, match.end())


def _copy(to: Assembly, cell: _Cell, start: int, end: int, *, ends: bool = True) -> None:
    text = cell.text[start:end]
    to.add(text, cell.places[start:end], cell.ends[start:end])
    if ends and not text.endswith("\n"):
        to.fill("\n", cell.ends[end - 1] if end else 0)


def _extend(to: Assembly, part: Assembly) -> None:
    to.chars += part.chars
    to.places += part.places
    to.ends += part.ends


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
