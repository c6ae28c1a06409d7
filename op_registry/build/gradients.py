"""Finds the ops whose output is silently cut off from autograd on the backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from op_registry.schema import Resolution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from op_registry.build.observation import Run
    from op_registry.build.table import Entry

_WHY = (
    "a TPU kernel stands over a composite that autograd would have differentiated piece by piece, "
    "and neither an autograd kernel nor a derivative formula exists: the output is detached"
)
_WHEN_TRACED = (
    "kept in eager mode, where autograd sees the ops that the TPU kernel calls; lost where a call "
    "is traced into a graph (torch.compile): the kernel stands over a composite there, and neither "
    "an autograd kernel nor a derivative formula exists"
)
_BACKWARD = "; this is itself a backward op, so only double backward is lost"


def may_lose(entry: Entry) -> bool:
    """Tell whether only a derivative formula or the kernel itself can keep ``entry``'s gradient."""
    return (
        entry.privateuse1 is Resolution.KERNEL
        and Resolution.COMPOSITE_IMPLICIT in entry.composites
        and entry.autograd in {Resolution.FALLTHROUGH, Resolution.NONE}
        and "Tensor" in entry.schema.rpartition("->")[2]
    )


def no_gradient(entry: Entry, *, has_formula: bool, kept_in_eager: bool = False) -> str | None:
    """Return why ``entry``'s output loses its gradient on the backend, None when it does not."""
    if has_formula or not may_lose(entry):
        return None
    if kept_in_eager:
        return _WHEN_TRACED
    return _WHY + _BACKWARD if "backward" in entry.op else _WHY


def kept_in_eager(runs: Sequence[Run]) -> bool:
    """Tell whether every sample that asked for a gradient had one on the placeholders.

    A kernel that calls ops with derivatives keeps it, as long as autograd sees those.
    """
    looked = [run.detached for run in runs if run.detached is not None]
    return bool(looked) and not any(looked)
