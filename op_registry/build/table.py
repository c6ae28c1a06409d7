"""Reads the dispatcher: every overload of every namespace, and what its keys resolve to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import torch

from op_registry.schema import Resolution

_COMPOSITES = {
    Resolution.COMPOSITE_EXPLICIT_NON_FUNCTIONAL: "CompositeExplicitAutogradNonFunctional",
    Resolution.COMPOSITE_EXPLICIT: "CompositeExplicitAutograd",
    Resolution.COMPOSITE_IMPLICIT: "CompositeImplicitAutograd",
}
"""Alias keys of composite kernels, in the order in which the dispatcher asks them."""
_KINDS = {
    "kernel": Resolution.KERNEL,
    "autograd kernel": Resolution.AUTOGRAD_KERNEL,
    "math kernel": Resolution.COMPOSITE_IMPLICIT,
    "backend fallback": Resolution.FALLBACK,
}
_LINE = re.compile(
    r"(?P<fall>fallthrough )?registered (?:at (?P<place>.*?)|by .*?)? ?\[(?P<kind>[^]]+)\]"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One op overload as the dispatcher knows it."""

    op: str
    """``aten.add.Tensor``"""
    schema: str
    privateuse1: Resolution
    autograd: Resolution
    autocast: Resolution
    place: str
    """File (last part) and line where what PrivateUse1 resolves to was registered."""
    composites: frozenset[Resolution]
    """Composite kernels that exist, whatever PrivateUse1 resolves to."""
    cpu_kernel: bool
    tags: frozenset[str]


def read_table() -> dict[str, Entry]:
    """Return all overloads with a schema, by their names, sorted."""
    names = sorted(torch._C._dispatch_get_all_op_names())
    entries = (_entry(name) for name in names if torch._C._dispatch_has_kernel(name))
    return {entry.op: entry for entry in entries}


def dotted(name: str) -> str:
    """Turn the dispatcher's ``aten::add.Tensor`` or ``aten::mm`` into ``aten.mm.default``."""
    full = name.replace("::", ".", 1)
    return full if "." in name else f"{full}.default"


def composite_key(entry: Entry) -> str | None:
    """Return the alias key of the composite kernel that PrivateUse1 resolves to, if it is one."""
    return _COMPOSITES.get(entry.privateuse1)


def _entry(name: str) -> Entry:
    lines = dict(
        line.split(": ", 1)
        for line in torch._C._dispatch_dump_table(name).splitlines()
        if ": " in line
    )
    composites = frozenset(
        kind
        for kind, key in _COMPOSITES.items()
        if torch._C._dispatch_has_kernel_for_dispatch_key(name, key)
    )
    backend, place = _resolution(lines.get("PrivateUse1", ""), composites)
    return Entry(
        op=dotted(name),
        schema=_schema(name),
        privateuse1=backend,
        autograd=_resolution(lines.get("AutogradPrivateUse1", ""), composites)[0],
        autocast=_resolution(lines.get("AutocastPrivateUse1", ""), composites)[0],
        place=place,
        composites=composites,
        cpu_kernel=_resolution(lines.get("CPU", ""), composites)[0] is Resolution.KERNEL,
        tags=_tags(name),
    )


def _resolution(text: str, composites: frozenset[Resolution]) -> tuple[Resolution, str]:
    match = _LINE.search(text)
    if match is None:
        return Resolution.NONE, ""
    place = (match["place"] or "").rsplit("/", 1)[-1]
    if match["fall"]:
        return Resolution.FALLTHROUGH, place
    if match["kind"] == "default backend kernel":
        non_functional = Resolution.COMPOSITE_EXPLICIT_NON_FUNCTIONAL
        found = non_functional if non_functional in composites else Resolution.COMPOSITE_EXPLICIT
        return found, place
    return _KINDS[match["kind"]], place


def _schema(name: str) -> str:
    for line in torch._C._dispatch_dump(name).splitlines():
        if line.startswith("schema: "):
            return line.removeprefix("schema: ")
    return ""


def _tags(name: str) -> frozenset[str]:
    overload = overload_of(dotted(name))
    return (
        frozenset()
        if overload is None
        else frozenset(str(tag).rsplit(".", 1)[-1] for tag in overload.tags)
    )


def overload_of(op: str) -> Any | None:
    """Return the ``OpOverload`` of ``aten.add.Tensor``, or None when Python cannot reach it."""
    namespace, packet, overload = op.split(".")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), packet), overload)
    except (AttributeError, RuntimeError):
        return None
