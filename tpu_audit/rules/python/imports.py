"""What a file imports, by statements and by calls with literal names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module


def find_imports(module: Module) -> Iterator[tuple[ast.stmt | ast.Call, tuple[str, ...]]]:
    """Iterate over imports, each with the dotted names it takes.

    ``from numba import cuda`` takes ``numba`` and ``numba.cuda``; relative imports are left out.
    """
    for plain in module.index.of(ast.Import):
        yield plain, tuple(alias.name for alias in plain.names)
    for source in module.index.of(ast.ImportFrom):
        if not source.level and source.module:
            below = (f"{source.module}.{alias.name}" for alias in source.names)
            yield source, (source.module, *below)
    for call in module.uses.dynamic_imports():
        # A wrapper's own call names what its callers pass: those are found themselves.
        literal = bool(call.args) and module.value(call.args[0]).complete
        names = tuple(sorted(module.qualified(call))) if literal else ()
        if names:
            yield call, names
