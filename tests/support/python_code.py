"""Modules made of source text, and expressions in them marked by ``seek(...)``."""

from __future__ import annotations

import ast
from textwrap import dedent

from tpu_audit.rules.python.module import Module


def module_of(source: str, path: str = "case.py") -> Module:
    """Return the module of an indented source text."""
    return Module(path, dedent(source))


def sought(module: Module) -> ast.expr:
    """Return the expression in the one call ``seek(expression)``."""
    calls = [module.parent(name) for name in module.index.names["seek"]]
    (call,) = (call for call in calls if isinstance(call, ast.Call))
    return call.args[0]


def seek(source: str) -> tuple[Module, ast.expr]:
    """Return the module of a source text and the expression that it marks."""
    module = module_of(source)
    return module, sought(module)
