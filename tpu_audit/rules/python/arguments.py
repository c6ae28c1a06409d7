"""Edits of a call's arguments and of its method's name; none that would not parse."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Edit, apply_edits

if TYPE_CHECKING:
    from tpu_audit.rules.python.module import Module


def appended(call: ast.Call, text: str, module: Module) -> Edit | None:
    """Return the edit that adds an argument at the end; None where none parses."""
    parts = [*call.args, *call.keywords]
    close = module.byte_range(call)[1] - 1
    last = max((module.byte_range(part)[1] for part in parts), default=close)
    # After the last argument; before the bracket where that one is in brackets of its own.
    choices = ((last, f", {text}"), (close, f", {text}"), (close, text))
    edits = [Edit(start=at, end=at, text=new) for at, new in choices]
    return next((e for e in edits if _fits(call, e, len(parts) + 1, module)), None)


def without(call: ast.Call, name: str, module: Module) -> Edit | None:
    """Return the edit that takes a keyword argument out of a call; None where none parses."""
    parts: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    parts.sort(key=lambda part: (part.lineno, part.col_offset))
    place = next(
        (i for i, p in enumerate(parts) if isinstance(p, ast.keyword) and p.arg == name), None
    )
    if place is None:
        return None
    start, end = module.byte_range(parts[place])
    if place + 1 < len(parts):
        end = module.byte_range(parts[place + 1])[0]
    elif place:
        start = module.byte_range(parts[place - 1])[1]
    edit = Edit(start=start, end=end, text="")
    return edit if _fits(call, edit, len(parts) - 1, module) else None


def renamed(call: ast.Call, text: str, module: Module) -> Edit:
    """Return the edit that writes ``text`` over a method's name and its arguments.

    What the method is called on stays as it is, with its brackets.
    """
    end = module.byte_range(call)[1]
    name_end = module.byte_range(call.func)[1]
    name = call.func.attr if isinstance(call.func, ast.Attribute) else module.code(call.func)
    return Edit(start=name_end - len(name.encode()), end=end, text=text)


def _fits(call: ast.Call, edit: Edit, count: int, module: Module) -> bool:
    """Tell whether the call still parses, with ``count`` arguments."""
    start, end = module.byte_range(call)
    moved = Edit(start=edit.start - start, end=edit.end - start, text=edit.text)
    text = apply_edits(module.source.encoded[start:end], (moved,)).decode("utf-8", "replace")
    try:
        tree = ast.parse(f"({text})", mode="eval").body
    except SyntaxError:
        return False
    return isinstance(tree, ast.Call) and len(tree.args) + len(tree.keywords) == count
