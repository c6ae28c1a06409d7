"""Uses of packages in snippets that leave their imports out."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.python.names import CUSTOMARY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tpu_audit.rules.python.module import Module


def unimported(module: Module, imports: Iterable[str]) -> Iterator[tuple[ast.expr, str]]:
    """Iterate over ``deepspeed.initialize`` and ``bnb.optim``, whose root nothing binds.

    With each: its dotted name. ``imports`` are the packages' import names.
    """
    roots = {name.partition(".")[0] for name in imports}
    names = module.index.names
    for word in (*roots, *CUSTOMARY):
        if word in names and CUSTOMARY.get(word, word).partition(".")[0] in roots:
            yield from _attributes(names[word], module)


def _attributes(uses: Iterable[ast.Name], module: Module) -> Iterator[tuple[ast.expr, str]]:
    for use in uses:
        parent = module.parent(use)
        if isinstance(parent, ast.Attribute) and not module.scopes.bindings(use):
            found = module.qualified(parent)
            if len(found) == 1:
                yield parent, min(found)
