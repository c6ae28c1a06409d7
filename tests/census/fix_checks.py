"""What a repair must keep: each check says what it lost, from the file before and after."""

from __future__ import annotations

import ast
import codecs
import io
import json
import re
import tokenize
import tomllib
import warnings
from collections import Counter
from contextlib import suppress
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

import yaml

from tpu_audit.rules.edits import apply_edits
from tpu_audit.rules.files.decoding import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tpu_audit.rules.edits import Edit

_LINE_END = re.compile(rb"\r\n|\n|\r")
_IGNORE = "tpu-audit:"


def lost(name: Path, before: bytes, after: bytes) -> Iterator[tuple[str, str]]:
    """Yield name of the check and what is wrong, for a file that a repair has changed."""
    for check, find in (("line ends", _line_ends), ("byte order mark", _mark)):
        if text := find(before, after):
            yield check, text
    reader = _READERS.get(name.suffix)
    if reader is not None and _fails(reader, after) and not _fails(reader, before):
        yield "reads", _fails(reader, after)
    if name.suffix == ".py":
        old, new = (decode(data, python=True).text for data in (before, after))
        for comment in _lost_comments(old, new):
            yield "comments", comment
    if name.suffix == ".ipynb" and _rest(before) != _rest(after):
        yield "notebook", "more than the source of code cells changed"


def _line_ends(before: bytes, after: bytes) -> str:
    old, new = (set(_LINE_END.findall(data)) for data in (before, after))
    if not new <= old:
        return f"{sorted(new - old)} came"
    ends = [data.endswith((b"\n", b"\r")) for data in (before, after)]
    return "" if ends[0] == ends[1] or not after else "the last line's end changed"


def _mark(before: bytes, after: bytes) -> str:
    kept = before.startswith(codecs.BOM_UTF8) == after.startswith(codecs.BOM_UTF8)
    return "" if kept else "changed"


def _python(data: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(data, "<file>", "exec", dont_inherit=True)


_READERS: dict[str, Callable[[bytes], Any]] = {
    ".py": _python,
    ".ipynb": json.loads,
    ".json": json.loads,
    ".yaml": lambda data: list(yaml.safe_load_all(data)),
    ".yml": lambda data: list(yaml.safe_load_all(data)),
    ".toml": lambda data: tomllib.loads(data.decode()),
}


def _fails(reader: Callable[[bytes], Any], data: bytes) -> str:
    try:
        reader(data)
    except (ValueError, SyntaxError, yaml.YAMLError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _lost_comments(before: str, after: str) -> Iterator[str]:
    """Yield comments that are gone, but for the tool's own and those behind deleted statements."""
    gone = Counter(text for _, text in _comments(before)) - Counter(t for _, t in _comments(after))
    if not gone:
        return
    deleted = _deleted(before, after)
    for line, text in _comments(before):
        if gone[text]:
            gone[text] -= 1
            behind = not before.splitlines()[line - 1].lstrip().startswith("#")
            if _IGNORE not in text and not (behind and line in deleted):
                yield f"{line}: {text}"


def _deleted(before: str, after: str) -> set[int]:
    """Return the numbers of lines that went and have nothing in their place."""
    blocks = SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return {
        line + 1
        for what, low, high, _, _ in blocks.get_opcodes()
        if what == "delete"
        for line in range(low, high)
    }


def _comments(text: str) -> list[tuple[int, str]]:
    """Return the comments of a Python file with their lines."""
    tokens = tokenize.generate_tokens(io.StringIO(text, newline="").readline)
    found = []
    with suppress(tokenize.TokenError, SyntaxError):  # the check named "reads" tells
        found += [(one.start[0], one.string) for one in tokens if one.type == tokenize.COMMENT]
    return found


def _rest(data: bytes) -> Any:
    """Return a notebook without the source of its code cells."""
    book = json.loads(data)
    for cell in book.get("cells", []):
        if cell.get("cell_type") == "code":
            cell["source"] = None
    return book


def torn(text: str, edits: tuple[Edit, ...]) -> Iterator[str]:
    """Yield expressions of a Python file that an edit writes again with another meaning.

    ``(a + b).cuda()`` written as ``a + b.to(d)`` has all of the text and means something else.
    """
    data = text.encode("utf-8", "surrogatepass")
    tree = ast.parse(text)
    after = ast.parse(apply_edits(data, edits).decode("utf-8", "surrogatepass"))
    there = {ast.dump(node) for node in ast.walk(after) if isinstance(node, ast.expr)}
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for edit in edits:
        for node in _outermost(tree, edit, starts):
            start, end = _range(node, starts)
            code = data[start:end].decode("utf-8", "replace")
            if code in edit.text and ast.dump(node) not in there:
                yield code


def _outermost(node: ast.AST, edit: Edit, starts: list[int]) -> Iterator[ast.expr]:
    """Yield the expressions that an edit replaces and may write again, and their parts."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr) and hasattr(child, "lineno"):
            start, end = _range(child, starts)
            inside = edit.start <= start and end <= edit.end
            if inside and isinstance(child, _COMPOUND):
                yield child
            if end <= edit.start or start >= edit.end:
                continue
        yield from _outermost(child, edit, starts)


_COMPOUND = (ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.UnaryOp, ast.Lambda, ast.Await)
"""Expressions that need brackets somewhere."""


def _range(node: ast.expr, starts: list[int]) -> tuple[int, int]:
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    return starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end_column
