"""Finds the ops whose output is silently cut off from autograd on the backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from op_registry.schema import Resolution

if TYPE_CHECKING:
    from op_registry.build.table import Entry

_WHY = (
    "a TPU kernel stands over a composite that autograd would have differentiated piece by piece, "
    "and neither an autograd kernel nor a derivative formula exists: the output is detached"
)
_BACKWARD = "; this is itself a backward op, so only double backward is lost"


def no_gradient(entry: Entry, *, has_formula: bool) -> str | None:
    """Return why ``entry``'s output loses its gradient on the backend, None when it does not."""
    cut = (
        entry.privateuse1 is Resolution.KERNEL
        and Resolution.COMPOSITE_IMPLICIT in entry.composites
        and entry.autograd in {Resolution.FALLTHROUGH, Resolution.NONE}
        and not has_formula
        and _returns_tensor(entry.schema)
    )
    if not cut:
        return None
    return _WHY + _BACKWARD if "backward" in entry.op else _WHY


def _returns_tensor(schema: str) -> bool:
    return "Tensor" in schema.rpartition("->")[2]
