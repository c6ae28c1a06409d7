"""Edits of import statements: one name more, one name less; everything else stays as it is."""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Edit, apply_edits
from tpu_audit.rules.text import SourceText

if TYPE_CHECKING:
    from collections.abc import Sequence

_REST_OF_LINE = re.compile(rb"[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n|$)")


@dataclass(frozen=True, slots=True)
class Name:
    """One imported name: ``import module`` or ``from module import attribute as alias``."""

    module: str
    attribute: str | None = None
    alias: str | None = None

    @property
    def bound(self) -> str:
        """The name that code uses."""
        return self.alias or self.attribute or self.module.partition(".")[0]

    @property
    def item(self) -> str:
        """The name as it stands in a statement's list."""
        alias = f" as {self.alias}" if self.alias else ""
        return f"{self.attribute or self.module}{alias}"

    @property
    def statement(self) -> str:
        """The import by itself."""
        return f"from {self.module} import {self.item}" if self.attribute else f"import {self.item}"


def names_of(node: ast.AST) -> list[Name]:
    """Return the names that an absolute import binds; none for other nodes."""
    if isinstance(node, ast.Import):
        return [Name(alias.name, None, alias.asname) for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [Name(node.module, alias.name, alias.asname) for alias in node.names]
    return []


def with_name(head: str, name: Name) -> str:
    """Return ``head``, the imports at the top of a module, with one name more."""
    text = _Text(head)
    siblings = [
        node
        for node in text.imports
        if isinstance(node, ast.ImportFrom) and node.module == name.module and not node.level
    ]
    if name.attribute and siblings and siblings[-1].names[0].name != "*":
        last = siblings[-1].names[-1]
        at = text.offset(last.end_lineno, last.end_col_offset)
        broken = last.lineno != siblings[-1].lineno  # one name a line
        gap = "\n" + " " * last.col_offset if broken else " "
        return text.edited(at, at, f",{gap}{name.item}")
    at = _place(text, name)
    before = "" if at == 0 or head.encode()[:at].endswith((b"\n", b"\r")) else "\n"
    return text.edited(at, at, f"{before}{name.statement}\n")


def without_name(head: str, name: Name) -> str:
    """Return ``head`` with one name less; a statement that held no other goes with its line.

    A statement that shares its line with another stays.
    """
    text = _Text(head)
    for node in text.imports:
        names = names_of(node)
        if name in names:
            if len(names) == 1:
                return text.without_statement(node)
            place = names.index(name)
            start, end = _stretch(node.names, place)
            return text.edited(text.offset(*start), text.offset(*end), "")
    return head


def _stretch(
    aliases: Sequence[ast.alias], place: int
) -> tuple[tuple[int | None, int | None], tuple[int | None, int | None]]:
    """Return where a name of a list begins and ends, with the comma that goes with it."""
    one = aliases[place]
    if place + 1 < len(aliases):
        after = aliases[place + 1]
        return (one.lineno, one.col_offset), (after.lineno, after.col_offset)
    before = aliases[place - 1]
    return (before.end_lineno, before.end_col_offset), (one.end_lineno, one.end_col_offset)


def _place(text: _Text, name: Name) -> int:
    """Return where a new statement goes: behind its like, third-party behind the standard ones."""
    plain = [node for node in text.imports if isinstance(node, ast.Import)]
    others = [node for node in text.imports if not _is_future(node)]
    foreign = [node for node in others if not _is_standard(node)]
    if name.attribute is None and plain:
        last_foreign = not _is_standard(plain[-1])
        if last_foreign or not foreign or name.module in sys.stdlib_module_names:
            return text.behind(plain[-1])
        return text.offset(foreign[0].lineno, 0)
    if name.attribute is None and others:
        return text.offset((foreign or others)[0].lineno, 0)
    last = text.tree.body[-1] if text.tree.body else None
    return text.behind(last) if last else len(text.source.encoded)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _is_standard(node: ast.stmt) -> bool:
    return all(n.module.partition(".")[0] in sys.stdlib_module_names for n in names_of(node))


class _Text:
    """The block of imports with the places of its statements."""

    def __init__(self, head: str) -> None:
        self.source = SourceText(head)
        self.tree = ast.parse(head)
        self.imports = [n for n in self.tree.body if isinstance(n, ast.Import | ast.ImportFrom)]

    def offset(self, line: int | None, column: int | None) -> int:
        """Return the byte offset of a place as ``ast`` gives it."""
        return self.source.byte_offset(line or 1, column or 0)

    def behind(self, node: ast.stmt) -> int:
        """Return the start of the line behind a statement."""
        end = self.offset(node.end_lineno, node.end_col_offset)
        found = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|$)").match(self.source.encoded, end)
        return found.end() if found else end

    def edited(self, start: int, end: int, text: str) -> str:
        """Return the text with a stretch of bytes replaced."""
        edit = Edit(start=start, end=end, text=text)
        return apply_edits(self.source.encoded, (edit,)).decode("utf-8", "surrogatepass")

    def without_statement(self, node: ast.stmt) -> str:
        """Return the text without a statement's lines, when they hold nothing else."""
        start = self.offset(node.lineno, 0)
        end = self.offset(node.end_lineno, node.end_col_offset)
        rest = _REST_OF_LINE.match(self.source.encoded, end)
        if node.col_offset or not rest:
            return self.source.text
        return self.edited(start, rest.end(), "")
