"""Adds the imports that new text needs and removes those that only the old text used."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from libcst.codemod import CodemodContext


class ImportsNotMovedError(Exception):
    """The file's syntax is beyond libcst, so its imports cannot be changed."""


def move_imports(text: str, adds: Iterable[str], removes: Iterable[str]) -> str:
    """Return ``text`` with the statements ``adds`` added where missing and ``removes`` removed.

    An import stays when anything else uses it. Raises ``ImportsNotMovedError``.
    """
    wanted = [name for statement in adds for name in _imported(statement)]
    unwanted = [name for statement in removes for name in _imported(statement)]
    if not wanted and not unwanted:
        return text
    import libcst  # half a second, and for these files only
    from libcst.codemod import CodemodContext
    from libcst.codemod.visitors import AddImportsVisitor, RemoveImportsVisitor

    try:
        module = libcst.parse_module(text)
        context = CodemodContext()
        for name in wanted:
            AddImportsVisitor.add_needed_import(context, name.module, name.attribute, name.alias)
        for name in unwanted:
            RemoveImportsVisitor.remove_unused_import(
                context, name.module, name.attribute, name.alias
            )
        module = AddImportsVisitor(context).transform_module(module)
        return _without_unused(context, module.code, bool(unwanted))
    except (libcst.ParserSyntaxError, libcst.CSTValidationError, RecursionError) as error:
        raise ImportsNotMovedError from error


def _without_unused(context: CodemodContext, code: str, any_unwanted: bool) -> str:
    if not any_unwanted:
        return code
    import libcst  # as above
    from libcst.codemod.visitors import RemoveImportsVisitor

    module = libcst.parse_module(code)
    return RemoveImportsVisitor(context).transform_module(module).code


class _Name:
    """One imported name: ``import module`` or ``from module import attribute as alias``."""

    def __init__(self, module: str, attribute: str | None, alias: str | None) -> None:
        self.module, self.attribute, self.alias = module, attribute, alias


def _imported(statement: str) -> list[_Name]:
    """Return the names that an import statement binds."""
    (node,) = ast.parse(statement).body
    if isinstance(node, ast.Import):
        return [_Name(alias.name, None, alias.asname) for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [_Name(node.module, alias.name, alias.asname) for alias in node.names]
    raise ValueError(f"{statement!r} is not an import statement")
