"""The own reference kernels, read from their source: importing them would import torch.

Only ops that the registry does not hold need this, those of libraries that were not installed where
it was extracted; the records of all others name their kernel.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import op_registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PACKAGE = "op_registry.reference.kernels"
"""Where the functions live that ``op_registry.reference.install()`` registers."""


@cache
def declared_kernels() -> Mapping[str, str]:
    """Return op overload -> import path of its own kernel, as the decorators say."""
    folder = Path(op_registry.__file__).parent / "reference" / "kernels"
    return {
        op: f"{PACKAGE}.{path.stem}.{function}"
        for path in sorted(folder.glob("*.py"))
        for op, function in _declarations(path.read_text(encoding="utf-8"))
    }


def _declarations(source: str) -> Iterator[tuple[str, str]]:
    """Yield op and function of every ``@kernel("aten.mish.default", ...)``."""
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    for node in functions:
        for call in node.decorator_list:
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "kernel":
                yield from ((op, node.name) for op in _texts(call.args))


def _texts(nodes: list[ast.expr]) -> list[str]:
    return [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
