"""Reads what torchgen packages: native_functions.yaml and derivatives.yaml.

A reader of lines rather than of YAML: the interpreter with the wheel need not have a YAML package,
and both files keep to one layout (torchgen's own parser depends on it).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_ENTRY = re.compile(r"- (?:func|name): ([\w.]+)\(")
_KERNELS = re.compile(r"    ([\w, ]+): \S")
_FIELD = re.compile(r"  (\w+): *(.*)")
_NO_OUTPUT = re.compile(r"\[(?:False(?:, )?)+\]")


@dataclass(kw_only=True, slots=True)
class Declaration:
    """One entry of native_functions.yaml."""

    structured_delegate: str | None = None
    """``aten.add.out`` of the functional or in-place form of a structured op."""
    keys: set[str] = field(default_factory=set)
    """Dispatch keys that name a kernel."""
    generated_from: str | None = None
    """The op whose other form this is: torchgen wrote its kernel, which calls that op."""


def read_native_functions(path: Path) -> dict[str, Declaration]:
    """Return the declared ops by dotted name (``aten.add.Tensor``)."""
    found: dict[str, Declaration] = {}
    current, source, in_dispatch = Declaration(), "", False
    for line in path.read_text(encoding="utf-8").splitlines():
        if entry := _ENTRY.match(line):
            source = _dotted(entry[1])
            current, in_dispatch = found.setdefault(source, Declaration()), False
        elif plain := _FIELD.match(line):
            in_dispatch = plain[1] == "dispatch"
            if plain[1] == "structured_delegate":
                current.structured_delegate = _dotted(plain[2].split()[0])
            elif plain[1] == "ufunc_inner_loop":
                # torchgen writes both kernels from the one loop.
                current.keys.update(("CPU", "CUDA"))
            elif plain[1] == "autogen":
                for name in plain[2].split(","):
                    form = found.setdefault(_dotted(name.strip()), Declaration())
                    form.generated_from = source
        elif in_dispatch and (kernels := _KERNELS.match(line)):
            current.keys.update(key.strip() for key in kernels[1].split(","))
    return found


def read_derivatives(path: Path) -> frozenset[str]:
    """Return the dotted names of the ops with a derivative formula for some output."""
    found: set[str] = set()
    current = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if entry := _ENTRY.match(line):
            current = _dotted(entry[1])
            found.add(current)
        elif (plain := _FIELD.match(line)) and plain[1] == "output_differentiability":
            found.difference_update([current] if _NO_OUTPUT.fullmatch(plain[2].strip()) else [])
    return frozenset(found)


def delegate_of(declared: Mapping[str, Declaration], op: str) -> str | None:
    """Return the ``.out`` op that the structured op ``op`` runs through, or None."""
    declaration = declared.get(op)
    return declaration.structured_delegate if declaration else None


def has_kernel(declared: Mapping[str, Declaration], op: str, key: str) -> bool:
    """Tell whether ``op`` declares a kernel at ``key``, itself or through its delegate."""
    declaration = declared.get(op)
    if declaration is None:
        return False
    delegate = declaration.structured_delegate
    return key in declaration.keys or (delegate is not None and has_kernel(declared, delegate, key))


def has_formula(op: str, formulas: frozenset[str]) -> bool:
    """Tell whether autograd has a formula for ``op``: its own, or its functional form's.

    torchgen derives the in-place form's from the functional one, and a ``_foreach_`` op's from the
    op that it repeats.
    """
    namespace, name, overload = op.split(".")
    functional = f"{namespace}.{name.removesuffix('_')}.{overload}"
    if op in formulas or functional in formulas:
        return True
    repeated = name.removesuffix("_").removeprefix("_foreach_")
    return repeated != name.removesuffix("_") and any(
        formula.split(".")[1] == repeated for formula in formulas
    )


def _dotted(name: str) -> str:
    return f"aten.{name}" if "." in name else f"aten.{name}.default"
