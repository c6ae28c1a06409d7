"""Which ops autograd's formula of an op calls, read from what torchgen packages."""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING

from op_registry.errors import RegistryError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from op_registry.reference.declare import Declaration

_ENTRY = re.compile(r"- name: ([\w.]+)\(")
_FIELD = re.compile(r"  (\w+(?:, *\w+)*): *(.*)")
_CALL = re.compile(r"\b([a-z_]\w*?)(?:_symint)?\(")
_FORWARD_MODE = "result"
"""The field for forward-mode differentiation."""


def packets_called(op: str) -> frozenset[str]:
    """Return the names that the derivative formula of ``op`` calls (``mish_backward``), maybe none.

    They are names of ops, or of functions of autograd's own.
    """
    namespace, name, overload = op.split(".")
    if namespace != "aten":
        return frozenset()
    key = name if overload == "default" else f"{name}.{overload}"
    return _calls().get(key, frozenset())


def needs(op: str, kernels: Mapping[str, Declaration]) -> list[str]:
    """Return the ops with a kernel that the gradient of ``op`` calls, as far as is known."""
    packets = packets_called(op)
    named = [other for other in kernels if other.split(".")[1] in packets and other != op]
    return sorted({*named, *(kernels[op].needs if op in kernels else ())})


def closure(op: str, kernels: Mapping[str, Declaration]) -> set[str]:
    """Return ``op`` and the ops that it needs, that these need, and so on."""
    todo, found = [op], set[str]()
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += needs(one, kernels)
    return found


@functools.cache
def _calls() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    current = ""
    for line in derivatives().read_text(encoding="utf-8").splitlines():
        if entry := _ENTRY.match(line):
            current = entry[1]
        elif (given := _FIELD.match(line)) and not given[1].startswith(_FORWARD_MODE):
            found[current] = found.get(current, frozenset()) | frozenset(_CALL.findall(given[2]))
    return found


def derivatives() -> Path:
    """Return the path of ``derivatives.yaml`` in the installed torch."""
    spec = importlib.util.find_spec("torchgen")
    if spec is None or spec.origin is None:
        raise RegistryError("torch comes with a package `torchgen`, which is not installed here")
    return Path(spec.origin).parent / "packaged/autograd/derivatives.yaml"
