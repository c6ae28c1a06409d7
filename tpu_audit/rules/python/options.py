"""Command line options: the defaults that argparse, click and typer give to names."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module

_PARSED = frozenset({"parse_args", "parse_known_args", "parse_args_into_dataclasses"})
_HOLDERS = frozenset(
    {"args", "opt", "opts", "options", "flags", "FLAGS", "arguments", "hparams", "parsed", "ns"}
)
"""Names that hold parsed options when nothing tells what they hold."""


class Options:
    """Options that a module declares, by the attribute or parameter that they end in."""

    def __init__(self, module: Module) -> None:
        self._module = module

    @cached_property
    def defaults(self) -> dict[str, list[ast.expr]]:
        """Default expressions by destination: ``--use-device`` is ``use_device``.

        What ``action="store_const"`` stores is among them.
        """
        found: dict[str, list[ast.expr]] = {}
        for call in self.calls:
            name = destination(call)
            for value in (keyword(call, "default"), keyword(call, "const")):
                if name and value is not None:
                    found.setdefault(name, []).append(value)
        for name, default in [*self._set_defaults(), *self._absl()]:
            found.setdefault(name, []).append(default)
        return found

    def _set_defaults(self) -> Iterator[tuple[str, ast.expr]]:
        """Iterate over ``parser.set_defaults(device="cuda")``."""
        for attribute in self._module.index.attributes.get("set_defaults", ()):
            call = self._module.index.parents[attribute]
            if isinstance(call, ast.Call):
                yield from ((k.arg, k.value) for k in call.keywords if k.arg)

    def _absl(self) -> Iterator[tuple[str, ast.expr]]:
        """Iterate over ``flags.DEFINE_string("device", "cuda", "help")``."""
        attributes = self._module.index.attributes
        for word in ("DEFINE_string", "DEFINE_enum", "DEFINE_bool", "DEFINE_boolean"):
            for attribute in attributes.get(word, ()):
                call = self._module.index.parents[attribute]
                if isinstance(call, ast.Call) and len(call.args) > 1:
                    yield destination(call), call.args[1]

    @cached_property
    def calls(self) -> list[ast.Call]:
        """Calls that declare an option: ``add_argument``, ``click.option``, ``typer.Option``."""
        attributes = self._module.index.attributes
        found = [
            parent
            for word in ("add_argument", "option", "Option", "argument", "Argument")
            for attribute in attributes.get(word, ())
            for parent in (self._module.index.parents[attribute],)
            if isinstance(parent, ast.Call) and parent.func is attribute
        ]
        return [call for call in found if destination(call)]

    def of(self, node: ast.Attribute) -> list[ast.expr]:
        """Return the defaults that ``args.NAME`` may have; empty where it is no option."""
        if node.attr not in self.defaults or not self._holds_options(node.value):
            return []
        return self.defaults[node.attr]

    def _holds_options(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr in _HOLDERS
        if not isinstance(node, ast.Name):
            return False
        if node.id in _HOLDERS:
            return True
        values = [binding.value for binding in self._module.scopes.bindings(node)]
        return any(_is_parse(value) for value in values)


def _is_parse(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _PARSED


def destination(call: ast.Call) -> str:
    """Return the name that an option's value is kept under; empty where it is not literal."""
    explicit = keyword(call, "dest")
    if isinstance(explicit, ast.Constant):
        return str(explicit.value)
    flags = [a.value for a in call.args if isinstance(a, ast.Constant)]
    names = [flag for flag in flags if isinstance(flag, str)]
    plain = [name for name in names if not name.startswith("-")]
    long = [name for name in names if name.startswith("--")]
    chosen = (plain or long or names or [""])[0]
    return chosen.partition("/")[0].lstrip("-").replace("-", "_")


def keyword(call: ast.Call, *names: str) -> ast.expr | None:
    """Return the value of the first keyword argument of a call among ``names``."""
    for argument in call.keywords:
        if argument.arg in names:
            return argument.value
    return None
