"""What rules say about a name of the symbol table, and how much it counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api.roles import is_told
from tpu_audit.rules.symbols.table import OnTpu, Symbol
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast

    from tpu_audit.rules.python.module import Module

_SEVERITY = {
    OnTpu.RAISES: Severity.ERROR,
    OnTpu.CONSTANT: Severity.WARNING,
    OnTpu.NOTHING: Severity.INFO,
    OnTpu.WORKS: Severity.INFO,
}


def message(symbol: Symbol, name: str) -> str:
    """Return what happens where ``name`` is used on a TPU: a clause that names it."""
    reason = symbol.reason.rstrip(".")
    head, colon, tail = reason.partition(": ")
    if symbol.on_tpu is OnTpu.CONSTANT:
        answer = head if head == "None" else head.lower()
        return f"`{name}` is {answer} on a TPU: {tail}" if colon else f"`{name}` knows no TPU"
    effect = {
        OnTpu.RAISES: "raises on a TPU",
        OnTpu.NOTHING: "does nothing on a TPU",
        OnTpu.WORKS: "is CUDA's own name",
    }[symbol.on_tpu]
    return f"`{name}` {effect}: {reason[0].lower()}{reason[1:]}"


def advice(symbol: Symbol) -> str:
    """Return what to write instead."""
    if symbol.replacement is not None:
        return f"write `{symbol.replacement}`"
    if not symbol.has_effect:
        return "it may stay for CUDA; nothing has to be done for a TPU"
    return "leave it out, or run it on CUDA alone"


def severity(symbol: Symbol, node: ast.expr, module: Module) -> Severity:
    """Return what a use counts: an error where it raises and nothing around it catches that."""
    if is_told(node, module):
        return Severity.INFO
    found = _SEVERITY[symbol.on_tpu]
    if found is Severity.ERROR and module.context(node).caught:
        return Severity.WARNING
    return found
