"""Tells from a program and its optimised HLO which element types the chip does not compute in.

Two ways of it are visible. The TPU compiler rewrites all 64-bit types, complex ones included, to
pairs of 32-bit values before anything else. And it computes some operations on 16-bit floats in
float32, converting around them. Runs in the child.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

_PAIRS = {
    "f64": "f64 in pairs of f32",
    "s64": "s64 in pairs of u32",
    "u64": "u64 in pairs of u32",
    "c64": "c64 in pairs of f32",
    "c128": "c128 in pairs of f64, those in pairs of f32",
}
_NARROW = ("f16", "bf16")
_MOVES = frozenset(
    {
        "stablehlo.bitcast_convert",
        "stablehlo.broadcast",
        "stablehlo.broadcast_in_dim",
        "stablehlo.case",
        "stablehlo.complex",
        "stablehlo.composite",
        "stablehlo.concatenate",
        "stablehlo.constant",
        "stablehlo.convert",
        "stablehlo.dynamic_slice",
        "stablehlo.dynamic_update_slice",
        "stablehlo.gather",
        "stablehlo.get_tuple_element",
        "stablehlo.if",
        "stablehlo.imag",
        "stablehlo.iota",
        "stablehlo.optimization_barrier",
        "stablehlo.pad",
        "stablehlo.real",
        "stablehlo.reshape",
        "stablehlo.return",
        "stablehlo.reverse",
        "stablehlo.select",
        "stablehlo.slice",
        "stablehlo.sort",
        "stablehlo.transpose",
        "stablehlo.tuple",
        "stablehlo.while",
    }
)
"""Operations that compute nothing: they move, choose or convert. Their regions are looked at."""
_TESTS = frozenset({"stablehlo.compare", "stablehlo.is_finite", "chlo.broadcast_compare"})
"""Operations that compute in the type of their operands."""
_TYPES = {"i1": "pred", "complex<f32>": "c64", "complex<f64>": "c128"}
_INSTRUCTION = re.compile(r"^\s*(?:ROOT )?%[\w.-]+ = (?:\((\w+)|(\w+)).*? ([\w-]+)\(", re.MULTILINE)
_TARGET = re.compile(r'custom_call_target="([^"]+)"')
_SPLITTING = re.compile(r"X(?:64|128)\w+")
_HLO_NAMES = {"dot-general": "convolution", "dot": "convolution"}


def computed(module: Any) -> tuple[int, frozenset[tuple[str, str]]]:
    """Return how many operations ``module`` has, and which compute in which type.

    A pair is an opcode as HLO spells it and an element type as HLO spells it (``("add", "s64")``).
    """
    from jaxlib.mlir import ir

    count, pairs = 0, set[tuple[str, str]]()

    def visit(op: Any) -> Any:
        nonlocal count
        dialect, _, name = op.name.partition(".")
        if dialect in {"stablehlo", "chlo"} and name not in {"constant", "return"}:
            count += 1
            pairs.update((_opcode(name), kind) for kind in _types_of(op))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return count, frozenset(pairs)


def emulation(pairs: AbstractSet[tuple[str, str]], hlo: str | None) -> tuple[str, ...]:
    """Return in words how types are emulated; ``pairs`` from ``computed``, ``hlo`` optimised.

    Without the HLO, which some versions cannot print, only 64-bit types are told of.
    """
    used = {kind for _, kind in pairs}
    words = [word for kind, word in _PAIRS.items() if kind in used]
    if hlo is not None:
        compiled = set(_instructions(hlo))
        words += [f"{kind} computed in f32" for kind in _NARROW if _widened(kind, pairs, compiled)]
    return tuple(words)


def custom_calls(hlo: str) -> tuple[str, ...]:
    """Return the custom calls' targets, but for those that split and join 64-bit types."""
    found = set(_TARGET.findall(hlo))
    return tuple(sorted(name for name in found if not _SPLITTING.fullmatch(name)))


def instructions(hlo: str) -> int:
    """Return how many instructions all computations of the module have."""
    return sum(1 for _ in _instructions(hlo))


def _instructions(hlo: str) -> Iterable[tuple[str, str]]:
    for match in _INSTRUCTION.finditer(hlo):
        in_tuple, alone, opcode = match.groups()
        yield opcode, in_tuple or alone


def _widened(
    kind: str, pairs: AbstractSet[tuple[str, str]], compiled: AbstractSet[tuple[str, str]]
) -> bool:
    """Say whether an opcode that the program has in ``kind`` and not in f32 came out in f32."""
    return any(
        (opcode, "f32") in compiled and (opcode, "f32") not in pairs
        for opcode, used in pairs
        if used == kind
    )


def _opcode(name: str) -> str:
    dashed = name.replace("_", "-")
    return _HLO_NAMES.get(dashed, dashed)


def _types_of(op: Any) -> list[str]:
    if op.name in _MOVES:
        return []
    values = op.operands if op.name in _TESTS else op.results
    return [_type_of(value) for value in values]


def _type_of(value: Any) -> str:
    kind = str(getattr(value.type, "element_type", value.type))
    return _TYPES.get(kind) or re.sub(r"^u?i(?=\d)", lambda m: "u" if m[0] == "ui" else "s", kind)
