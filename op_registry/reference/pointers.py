"""What defines an op: an own kernel, torch's own decomposition or reference, or its composite.

An own kernel also defines the in-place and ``out=`` forms of its op, before all that torch has.

Nothing here is a list typed by hand: definitions are found in torch's tables and by name, and
:mod:`op_registry.reference.proof` compares them with eager PyTorch.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import torch
import torch._refs.fft
import torch._refs.linalg
import torch._refs.nn.functional
import torch._refs.special
from torch._decomp import decomposition_table

from op_registry.build.table import overload_of
from op_registry.reference.declare import Declaration, Kernel, declared
from op_registry.reference.derived import derive

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODULES = (
    torch._refs,
    torch._refs.nn.functional,
    torch._refs.special,
    torch._refs.linalg,
    torch._refs.fft,
)
_PREFIXES = ("special_", "linalg_", "fft_", "_")
_LOCAL = "<locals>"
"""In the path of a wrapper that torch made of a functional decomposition: that one is named."""
_COMPOSITES = ("CompositeImplicitAutograd", "CompositeExplicitAutograd")


class How(StrEnum):
    """What kind of definition a reference is."""

    OWN = "own"
    """A kernel of :mod:`op_registry.reference.kernels`."""
    DECOMPOSITION = "decomposition"
    """In torch's table of decompositions."""
    REF = "ref"
    """A function of ``torch._refs`` of the same name."""
    COMPOSITE = "composite"
    """PyTorch's own composite kernel."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """A definition of one op overload."""

    op: str
    path: str
    """Import path of the function; for a composite the op and the dispatch key of its kernel."""
    how: How
    function: Kernel
    """Called as the overload is."""
    of: str = ""
    """The functional overload that it defines, when the op is its in-place or ``out=`` form."""


def candidates(op: str) -> Iterator[Reference]:
    """Yield the definitions of ``op`` that were found, the most telling kind first.

    Not compared with anything yet: :func:`op_registry.reference.proof.prove` does that. Own kernels
    come before torch's definitions, those of its functional form included: they are what gets
    installed.
    """
    own = declared().get(op)
    if own is not None:
        yield Reference(op=op, path=own.path, how=How.OWN, function=own.function)
    overload = overload_of(op)
    if overload is None:
        return
    others = [found for functional in functional_forms(op) for found in _formed(op, functional)]
    yield from (found for found in others if found.how is How.OWN)
    yield from _direct(op, overload)
    yield from (found for found in others if found.how is not How.OWN)


def _formed(op: str, functional: str) -> Iterator[Reference]:
    """Yield the definitions of ``functional``, each put into the form of ``op``."""
    for found in candidates(functional):
        for form in derive(_declaration(functional, found.function)):
            if form.op == op:
                yield replace(found, op=op, function=form.function, of=functional)


def functional_forms(op: str) -> list[str]:
    """Return the functional overloads of which ``op`` is the in-place or ``out=`` form."""
    namespace, name, _ = op.split(".")
    found = []
    for packet in {name, name.removesuffix("_")} - {""}:
        owner = getattr(getattr(torch.ops, namespace), packet, None)
        for overload in owner.overloads() if owner is not None else ():
            other = f"{namespace}.{packet}.{overload}"
            if other != op and op in {form.op for form in derive(_declaration(other, len))}:
                found.append(other)
    return sorted(found)


def _declaration(op: str, function: Kernel) -> Declaration:
    return Declaration(op=op, function=function, source="", accuracy="")


def _direct(op: str, overload: Any) -> Iterator[Reference]:
    listed = decomposition_table.get(overload)
    if listed is not None and _LOCAL not in _path(listed):
        yield Reference(op=op, path=_path(listed), how=How.DECOMPOSITION, function=listed)
    for found in _by_name(op):
        if found is not listed and _fits(found, overload._schema):
            yield Reference(op=op, path=_path(found), how=How.REF, function=found)
    for key in _COMPOSITES:
        if torch._C._dispatch_has_kernel_for_dispatch_key(overload.name(), key):
            kernel = functools.partial(overload._op_dk, getattr(torch._C.DispatchKey, key))
            yield Reference(op=op, path=f"{op} ({key})", how=How.COMPOSITE, function=kernel)


def _by_name(op: str) -> Iterator[Kernel]:
    namespace, name, _ = op.split(".")
    if namespace != "aten":
        return
    names = {name, *(name.removeprefix(prefix) for prefix in _PREFIXES)}
    for module in _MODULES:
        for one in sorted(names):
            found = getattr(module, one, None)
            if callable(found) and one in getattr(module, "__all__", ()):
                yield found


def _fits(function: Kernel, schema: Any) -> bool:
    """Tell whether ``function`` takes the arguments of ``schema``, by place and by name."""
    try:
        signature = inspect.signature(function)
        by_place = [object() for a in schema.arguments if not a.kwarg_only]
        by_name = {a.name: object() for a in schema.arguments if a.kwarg_only}
        signature.bind(*by_place, **by_name)
    except (TypeError, ValueError):
        return False
    return True


def _path(function: Any) -> str:
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    return f"{inner.__module__}.{getattr(inner, '__qualname__', type(inner).__qualname__)}"
