"""Edits of a call's arguments and of its method's name; none that would not parse."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Edit, apply_edits
from tpu_audit.rules.python.comments import count_comments

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
    return next((e for e in edits if fits(call, (e,), len(parts) + 1, module)), None)


def prepended(call: ast.Call, text: str, module: Module) -> Edit | None:
    """Return the edit that puts an argument before the others; None where none parses."""
    parts = [*call.args, *call.keywords]
    if not parts:
        return appended(call, text, module)
    at = min(module.byte_range(part)[0] for part in parts)
    edit = Edit(start=at, end=at, text=f"{text}, ")
    return edit if fits(call, (edit,), len(parts) + 1, module) else None


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
    edit: Edit | None = Edit(start=start, end=end, text="")
    if count_comments(module.source.encoded[start:end].decode("utf-8", "replace")):
        edit = _own_lines(parts[place], module)
    return edit if edit and fits(call, (edit,), len(parts) - 1, module) else None


def _own_lines(part: ast.AST, module: Module) -> Edit | None:
    """Return the edit that deletes an argument with its lines, if nothing else is on them."""
    start, end = module.byte_range(part)
    data = module.source.encoded
    first = data.rfind(b"\n", 0, start) + 1
    last = data.find(b"\n", end) + 1
    rest = data[end:last].strip().removeprefix(b",").lstrip()
    if not last or data[first:start].strip() or (rest and not rest.startswith(b"#")):
        return None
    return Edit(start=first, end=last, text="")


def renamed(call: ast.Call, text: str, module: Module) -> Edit | None:
    """Return the edit that writes ``text`` over a method's name and its arguments.

    What the method is called on stays as it is, with its brackets. None for a method got by
    ``getattr``.
    """
    if not isinstance(call.func, ast.Attribute):
        return None
    start = method_name(call.func, "", module).start
    return Edit(start=start, end=module.byte_range(call)[1], text=text)


def method_name(function: ast.Attribute, text: str, module: Module) -> Edit:
    """Return the edit that writes another name after the last dot."""
    end = module.byte_range(function)[1]
    return Edit(start=end - len(function.attr.encode()), end=end, text=text)


def fits(call: ast.Call, edits: tuple[Edit, ...], count: int, module: Module) -> bool:
    """Tell whether the call still parses after ``edits`` in it, with ``count`` arguments."""
    start, end = module.byte_range(call)
    moved = tuple(Edit(start=e.start - start, end=e.end - start, text=e.text) for e in edits)
    text = apply_edits(module.source.encoded[start:end], moved).decode("utf-8", "replace")
    try:
        tree = ast.parse(f"({text}\n)", mode="eval").body
    except SyntaxError:
        return False
    return isinstance(tree, ast.Call) and len(tree.args) + len(tree.keywords) == count
