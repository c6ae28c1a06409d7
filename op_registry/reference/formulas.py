"""Which ops autograd's formula of an op calls, read from what torchgen packages."""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path

from op_registry.errors import RegistryError

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
