"""Where the block of imports at the top of a module ends."""

from __future__ import annotations

import ast
import re

_HEAD = re.compile(r"(?:[ \t]*#[^\r\n]*(?:\r\n|\r|\n|$))*")
_LINE_END = re.compile(r"\r\n|\r|\n|$")


def end_of_imports(text: str, tree: ast.Module) -> int:
    """Return the index behind the imports at the top, of which there may be none.

    They may follow a docstring. Without any, that is behind the docstring or the comments that
    the file begins with.
    """
    line = 0
    for place, node in enumerate(tree.body):
        docstring = place == 0 and isinstance(node, ast.Expr) and _is_text(node.value)
        if not docstring and not isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
            break
        if not isinstance(node, ast.Pass):  # a notebook's magic
            line = node.end_lineno or node.lineno
    if not line:
        head = _HEAD.match(text)
        return head.end() if head else 0
    ends = [match.end() for match in _LINE_END.finditer(text)]
    return ends[line - 1]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
