"""Strings that are put together: f-strings, ``+``, ``%`` and ``format``, with holes."""

from __future__ import annotations

import ast
import re
from itertools import product
from typing import TYPE_CHECKING

from tpu_audit.rules.python.possible import HOLE, Possible, Values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Evaluate = Callable[[ast.expr], Values]

_MOST = 8
"""Combinations looked at: above it, all parts that vary become holes."""
_PERCENT = re.compile(r"%(?:\(\w+\))?[-+ #0]*[\d*]*(?:\.\d+)?[a-zA-Z]")
_BRACES = re.compile(r"\{[^{}]*\}")


def formatted(node: ast.JoinedStr, evaluate: Evaluate) -> Values:
    """Evaluate an f-string."""
    parts = [
        evaluate(part.value) if isinstance(part, ast.FormattedValue) else evaluate(part)
        for part in node.values
    ]
    return _joined(node, parts)


def added(node: ast.BinOp, evaluate: Evaluate) -> Values:
    """Evaluate ``left + right`` where one side is a known string."""
    left, right = evaluate(node.left), evaluate(node.right)
    if not left.strings() and not right.strings():
        return Values(complete=False)
    return _joined(node, [left, right])


def percent(node: ast.BinOp, evaluate: Evaluate) -> Values:
    """Evaluate ``"cuda:%d" % x``."""
    templates = evaluate(node.left).strings()
    return _holed(node, templates, _PERCENT)


def braces(node: ast.Call, template: ast.expr, evaluate: Evaluate) -> Values:
    """Evaluate ``"cuda:{}".format(x)``; what is passed by name is filled in where it is known."""
    texts = list(evaluate(template).strings())
    for argument in node.keywords:
        values = evaluate(argument.value).strings()
        if len(values) == 1 and argument.arg is not None:
            texts = [text.replace(f"{{{argument.arg}}}", values[0]) for text in texts]
    return _holed(node, texts, _BRACES)


def joined(node: ast.Call, comma: ast.expr, items: ast.expr, evaluate: Evaluate) -> Values:
    """Evaluate ``":".join(["cuda", x])``."""
    texts = evaluate(comma).strings()
    if len(texts) != 1 or not isinstance(items, ast.List | ast.Tuple):
        return Values(complete=False)
    between = Values((Possible(texts[0], comma),))
    parts = [part for item in items.elts for part in (evaluate(item), between)]
    return _joined(node, parts[:-1])


def _holed(node: ast.expr, templates: Sequence[str], field: re.Pattern[str]) -> Values:
    known = tuple(Possible(field.sub(HOLE, template), node) for template in templates)
    return Values(known, complete=bool(known))


def _joined(node: ast.expr, parts: list[Values]) -> Values:
    choices = [[_text(possible) for possible in part] or [HOLE] for part in parts]
    size = 1
    for choice in choices:
        size *= len(choice)
    if size > _MOST:
        choices = [choice if len(choice) == 1 else [HOLE] for choice in choices]
    texts = dict.fromkeys("".join(texts) for texts in product(*choices))
    known = tuple(Possible(text, node) for text in texts if text.strip(HOLE))
    return Values(known, complete=bool(known))


def _text(possible: Possible) -> str:
    return HOLE if possible.value is None else str(possible.value)
