"""Requirements that Python files hold as strings: set-up scripts and calls of pip."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpu_audit.rules.files.requirement_text import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module

_NEEDED = ("install_requires", "setup_requires", "requires", "packages_needed")
_RUN = frozenset({"system", "run", "call", "check_call", "check_output", "Popen", "getoutput"})
_PIP = re.compile(r"\bpip3?\s+install\s+(.+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Required:
    """One requirement in a string."""

    name: str
    """As PEP 503 compares it."""
    specifier: str
    node: ast.expr
    optional: bool


def requirements(module: Module) -> tuple[Required, ...]:
    """Return what a Python file has pip install; the module keeps it for all rules."""
    found: tuple[Required, ...] | None = module.__dict__.get("_requirements")
    if found is None:
        found = module.__dict__["_requirements"] = tuple(_find(module))
    return found


def _find(module: Module) -> Iterator[Required]:
    keywords = module.index.keywords
    for word in _NEEDED:
        for keyword in keywords.get(word, ()):
            yield from _listed(module, keyword.value, optional=False)
    for keyword in keywords.get("extras_require", ()):
        if isinstance(keyword.value, ast.Dict):
            for value in keyword.value.values:
                yield from _listed(module, value, optional=True)
    if "pip" in module.text and "install" in module.text:
        yield from _installed(module)


def _listed(module: Module, node: ast.expr, *, optional: bool) -> Iterator[Required]:
    for element in module.elements(node):
        for text in module.value(element).strings():
            parsed = parse(text)
            if parsed is not None:
                yield Required(
                    name=parsed.name, specifier=parsed.specifier, node=element, optional=optional
                )


def _installed(module: Module) -> Iterator[Required]:
    """Iterate over ``os.system("pip install x")`` and ``[..., "pip", "install", "x"]``."""
    for constant in module.strings:
        found = _PIP.search(constant.value) if isinstance(constant.value, str) else None
        if found and _is_run(module.parent(constant)):
            for word in found.group(1).split():
                parsed = None if word.startswith("-") else parse(word.strip("\"'"))
                if parsed is not None:
                    yield Required(
                        name=parsed.name, specifier=parsed.specifier, node=constant, optional=False
                    )
        if constant.value == "install":
            yield from _arguments(module, constant)


def _arguments(module: Module, constant: ast.Constant) -> Iterator[Required]:
    parent = module.parent(constant)
    if not isinstance(parent, ast.List | ast.Tuple):
        return
    words = [e.value if isinstance(e, ast.Constant) else None for e in parent.elts]
    place = parent.elts.index(constant)
    if place and words[place - 1] in {"pip", "pip3"}:
        for element, word in zip(parent.elts[place + 1 :], words[place + 1 :], strict=True):
            parsed = parse(word) if isinstance(word, str) and not word.startswith("-") else None
            if parsed is not None:
                yield Required(
                    name=parsed.name, specifier=parsed.specifier, node=element, optional=False
                )


def _is_run(node: ast.AST | None) -> bool:
    return (
        isinstance(node, ast.Call)
        and getattr(node.func, "attr", getattr(node.func, "id", "")) in _RUN
    )
