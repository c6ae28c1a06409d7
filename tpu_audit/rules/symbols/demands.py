"""Code that raises on a TPU whatever is repaired in it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.symbols.table import OnTpu, cuda_symbols

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tpu_audit.rules.python.module import Module


def needs_cuda(nodes: Iterable[ast.AST], module: Module) -> bool:
    """Tell whether code uses a name of CUDA's that raises on a TPU and that nothing replaces."""
    symbols = cuda_symbols()
    found = (
        symbols.get(name)
        for node in descend(*nodes)
        if isinstance(node, ast.Attribute | ast.Name)
        for name in module.qualified(node)
        if name.startswith("torch.")
    )
    return any(one and one.on_tpu is OnTpu.RAISES and one.replacement is None for one in found)
