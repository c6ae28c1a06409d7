"""Adds the imports that new text needs and removes those that only the old text used."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.check.file_check import parse
from tpu_audit.fix.import_block import end_of_imports
from tpu_audit.fix.import_edits import Name, names_of, with_name, without_name
from tpu_audit.rules.python.walk import descend

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_WORD = re.compile(r"\w+")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$")


def move_imports(text: str, adds: Iterable[str], removes: Iterable[str]) -> str:
    """Return ``text`` with the statements ``adds`` added where missing and ``removes`` removed.

    An import stays when anything else uses its name. Imports are added to the block at the top,
    and removed there and where one has a line in a function. Raises
    ``NotReadableError`` when ``text`` is not Python.
    """
    tree = parse(text)
    there = set(_at_module_level(tree.body))
    anywhere = {name for node in descend(tree) for name in _imported(node)}
    wanted = [name for name in _all(adds) if name not in there]
    unwanted = [name for name in _all(removes) if name in anywhere and not _used(tree, name.bound)]
    if not wanted and not unwanted:
        return text
    end = end_of_imports(text, tree)
    head, rest = text[:end], text[end:]
    moved = head
    for name in wanted:
        moved = with_name(moved, name)
    for name in unwanted:
        moved = without_name(moved, name)
    rest = _without_local(rest, unwanted)
    gap = "\n" if wanted and not _has_imports(head) and _starts_tight(rest) else ""
    if "\r\n" in text:
        moved = moved.replace("\r\n", "\n").replace("\n", "\r\n")
        gap = gap.replace("\n", "\r\n")
    return f"{moved}{gap}{rest}"


def _starts_tight(text: str) -> bool:
    return bool(text.strip()) and text[0] not in "\r\n"


def _without_local(text: str, unwanted: Sequence[Name]) -> str:
    """Delete unwanted imports inside functions and branches that have a line for themselves."""
    if not any(name.module in text for name in unwanted):
        return text
    lines = _LINE.findall(text)
    for node in descend(parse(text)):
        if isinstance(node, ast.Module):
            continue
        for part in ("body", "orelse", "finalbody"):
            block = getattr(node, part, None)
            if not isinstance(block, list):  # a lambda's
                continue
            idle = [one for one in block if _is_idle(one, unwanted, lines)]
            if len(idle) < len(block):
                for one in idle:
                    lines[one.lineno - 1] = ""
    return "".join(lines)


def _is_idle(node: ast.stmt, unwanted: Sequence[Name], lines: Sequence[str]) -> bool:
    """Tell the import of one unwanted name that has its line for itself."""
    names = names_of(node)
    if len(names) != 1 or names[0] not in unwanted or node.lineno != node.end_lineno:
        return False
    return len(ast.parse(lines[node.lineno - 1].strip()).body) == 1


def orphans(before: str, after: str) -> tuple[str, ...]:
    """Return the imports that ``before`` used and ``after`` no longer does, as statements.

    Raises ``NotReadableError`` when one of the two is not Python.
    """
    old = parse(before)
    names = dict.fromkeys(name for node in descend(old) for name in _imported(node))
    words, left = _words(old), _words(parse(after))
    return tuple(
        name.statement
        for name in names
        if name.bound in words - left and name.module != "__future__"
    )


def _words(tree: ast.Module) -> set[str]:
    """Return the names that code uses, and the words of its strings, which may be annotations.

    Docstrings do not count.
    """
    found, prose = set[str](), set[ast.expr]()
    for node in descend(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Expr):
            prose.add(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            found.update(_WORD.findall(node.value))
    return found


def _all(statements: Iterable[str]) -> list[Name]:
    return [name for text in statements for node in ast.parse(text).body for name in names_of(node)]


def _imported(node: ast.AST) -> list[Name]:
    return names_of(node) if isinstance(node, ast.Import | ast.ImportFrom) else []


def _at_module_level(body: Iterable[ast.stmt]) -> Iterable[Name]:
    """Yield what is imported at module level, under conditions too."""
    for node in body:
        yield from names_of(node)
        if isinstance(node, ast.If | ast.Try | ast.With):
            inner = (getattr(node, part, []) for part in ("body", "orelse", "finalbody"))
            yield from _at_module_level(child for part in inner for child in part)


def _used(tree: ast.Module, name: str) -> bool:
    """Tell whether code uses ``name``, or ``__all__`` may offer it."""
    return any(
        (isinstance(node, ast.Name) and node.id == name)
        or (isinstance(node, ast.Constant) and node.value == name)
        for node in descend(tree)
    )


def _has_imports(head: str) -> bool:
    return any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.parse(head).body)
