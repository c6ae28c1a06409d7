"""Runs rules over one file: finds what each check asks for, and lets the context lower severity."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tpu_audit.rules.hit import Hit
from tpu_audit.rules.python.context import is_test_path
from tpu_audit.rules.rule import Check, Dispatch, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.python.module import Module

_API = "TPA2"
"""The family on CUDA's API."""
_ON_DEVICE = ("TPA1", "TPA2", "TPA3")
"""Families on devices, CUDA's API and precision."""
_AT_LAUNCH = frozenset({"TPA108", "TPA111", "TPA117"})
"""What launchers of kernels ask and set: it goes with the kernels, which have a finding."""
_RANK = {Severity.INFO: 0, Severity.WARNING: 1, Severity.ERROR: 2}


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A hit with its rule and the severity that its context leaves."""

    rule: Rule
    hit: Hit
    severity: Severity


def check_module(module: Module, rules: Iterable[Rule]) -> list[Found]:
    """Run rules over a Python file; hits in order of place, then code."""
    hits = [(rule, hit) for rule in rules for hit in _hits(rule, module)]
    judged = (_judged(rule, hit, module) for rule, hit in hits)
    return _in_order(found for found in judged if found is not None)


def check_document(document: Document, rules: Iterable[Rule]) -> list[Found]:
    """Run rules over a file of another kind; hits in order of place, then code."""
    test = is_test_path(document.path) or "test" in document.flavours
    tags = {document.kind, *document.flavours}
    found = []
    for rule in rules:
        for check in rule.checks:
            if check.dispatch is Dispatch.DOCUMENT and (not check.keys or tags & {*check.keys}):
                for hit in check.run(document):
                    severity = hit.severity or rule.severity
                    lowered = _lowered(severity, rule.in_tests) if test else severity
                    if lowered is not None:
                        found.append(Found(rule=rule, hit=hit, severity=lowered))
    return _in_order(found)


def _in_order(found: Iterable[Found]) -> list[Found]:
    ordered = sorted(found, key=lambda f: (f.hit.span, f.rule.code))
    unique = {(f.hit.span, f.rule.code): f for f in reversed(ordered)}
    return sorted(unique.values(), key=lambda f: (f.hit.span, f.rule.code))


def _judged(rule: Rule, hit: Hit, module: Module) -> Found | None:
    severity: Severity | None = hit.severity or rule.severity
    if isinstance(hit.anchor, ast.AST):
        context = module.context(hit.anchor)
        if context.type_checking:
            return None
        if context.test:
            severity = _lowered(severity, rule.in_tests)
        if severity is not None and module.reach(hit.anchor).dead:
            severity = _lowered(severity, rule.where_dead)
        if severity is not None and _is_of_backend(rule, severity, hit.anchor, module):
            severity = Severity.INFO
    return None if severity is None else Found(rule=rule, hit=hit, severity=severity)


def _is_of_backend(rule: Rule, severity: Severity, node: ast.AST, module: Module) -> bool:
    """Tell a use of CUDA in a backend of CUDA's: what needs a repair is the choice of it.

    So with what is asked for the message of an error that is raised anyway.
    """
    if rule.code.startswith(_API) and module.backends.is_offered(node):
        return True
    if rule.code.startswith((*_ON_DEVICE, "TPA4")) and module.backends.needs_engine:
        return True
    if rule.code in _AT_LAUNCH and module.backends.has_kernels:
        return True
    if rule.code.startswith(_ON_DEVICE) and _words_error(node, module):
        return True
    if severity is Severity.WARNING:
        return module.backends.serves_others(node)
    return rule.code.startswith(_ON_DEVICE) and module.backends.owns(node)


def _words_error(node: ast.AST, module: Module) -> bool:
    """Tell a plain statement in a handler of errors whose block ends in ``raise``."""
    statement = module.statement(node)
    block = module.index.block(statement)
    if not isinstance(block[-1], ast.Raise) or hasattr(statement, "body"):
        return False
    parent = module.parent(statement)
    while parent is not None and not isinstance(parent, ast.ExceptHandler | ast.FunctionDef):
        parent = module.parent(parent)
    return isinstance(parent, ast.ExceptHandler)


def _lowered(severity: Severity | None, most: Severity | None) -> Severity | None:
    if severity is None or most is None:
        return None
    return min(severity, most, key=_RANK.__getitem__)


def _hits(rule: Rule, module: Module) -> Iterator[Hit]:
    for check in rule.checks:
        finder = _FINDERS.get(check.dispatch)
        if finder is not None:
            for arguments in finder(check, module):
                yield from check.run(*arguments)


_Arguments = tuple[Any, ...]


def _nodes(check: Check, module: Module) -> Iterator[_Arguments]:
    return ((node, module) for node in module.index.of(*check.keys))


def _uses(check: Check, module: Module) -> Iterator[_Arguments]:
    for pattern in check.keys:
        for node in module.uses.named(pattern):
            yield node, module.uses.name_of(node, pattern), module


def _calls(check: Check, module: Module) -> Iterator[_Arguments]:
    for node, name, _ in _uses(check, module):
        parent = module.parent(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            yield parent, name, module


def _methods(check: Check, module: Module) -> Iterator[_Arguments]:
    for name in check.keys:
        for node in module.index.attributes.get(name, ()):
            parent = module.parent(node)
            if isinstance(parent, ast.Call) and parent.func is node:
                yield parent, node.value, module
        for call, receiver in module.methods_by_text.get(name, ()):
            yield call, receiver, module


def _attributes(check: Check, module: Module) -> Iterator[_Arguments]:
    for name in check.keys:
        for node in module.index.attributes.get(name, ()):
            yield node, module


def _keywords(check: Check, module: Module) -> Iterator[_Arguments]:
    for name in check.keys:
        for node in module.index.keywords.get(name, ()):
            yield node, module


def _imports(check: Check, module: Module) -> Iterator[_Arguments]:
    for node, names in module.imported:
        key = next((k for k in check.keys if any(_is_in(name, k) for name in names)), None)
        if key is not None:
            yield node, key, module


def _is_in(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def _sinks(check: Check, module: Module) -> Iterator[_Arguments]:
    kinds = check.keys
    return ((sink, module) for sink in module.sinks if not kinds or sink.kind in kinds)


def _strings(check: Check, module: Module) -> Iterator[_Arguments]:
    for node in module.strings:
        if any(part in node.value for part in check.keys):  # type: ignore[operator] # a str
            yield node, module


def _whole(_: Check, module: Module) -> Iterator[_Arguments]:
    yield (module,)


_FINDERS: dict[Dispatch, Callable[[Check, Module], Iterator[_Arguments]]] = {
    Dispatch.NODE: _nodes,
    Dispatch.NAME: _uses,
    Dispatch.CALL: _calls,
    Dispatch.METHOD: _methods,
    Dispatch.ATTRIBUTE: _attributes,
    Dispatch.KEYWORD: _keywords,
    Dispatch.IMPORTS: _imports,
    Dispatch.SINK: _sinks,
    Dispatch.STRING: _strings,
    Dispatch.MODULE: _whole,
}
