"""What eager CPU PyTorch makes of a call, also where the CPU has no kernel for the dtype."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from op_registry.build.samples.sample import Sample, seed
from op_registry.reference.checks.compare import WIDER, widened

if TYPE_CHECKING:
    from collections.abc import Callable


def outcome(function: Callable[..., Any], sample: Sample) -> tuple[Any, Any]:
    """Run ``function`` on a copy of ``sample``; return its result, and the arguments afterwards."""
    copied = sample.copied()
    seed()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        result = function(*copied.args, **copied.kwargs)
    return result, (copied.args, copied.kwargs)


def expected(eager: Callable[..., Any], sample: Sample, run: Callable[..., Any] = outcome) -> Any:
    """Return what ``run`` makes of ``eager`` and ``sample``, and the same in wider types or None.

    Where the CPU refuses the dtype, the wider result is rounded to it. Raises what eager raises
    when there is no wider one either.
    """
    exact = _exact(eager, sample, run)
    try:
        return run(eager, sample), exact
    except (RuntimeError, NotImplementedError):
        if exact is None:
            raise
        return _narrowed(exact, sample), exact


def wide(sample: Sample) -> Sample | None:
    """Return the call in the next wider types; None when there are none."""
    args, kwargs = widened((sample.args, sample.kwargs))
    found = Sample(args=args, kwargs=kwargs)
    return None if found.signature() == sample.signature() else found


def _exact(eager: Callable[..., Any], sample: Sample, run: Callable[..., Any]) -> Any:
    wider = wide(sample)
    if wider is None:
        return None
    try:
        return run(eager, wider)
    except Exception:  # noqa: BLE001 - no wider form of this call
        return None


def _narrowed(tree: Any, sample: Sample) -> Any:
    back = {WIDER[t.dtype]: t.dtype for t in sample.tensors() if t.dtype in WIDER}
    return pytree.tree_map_only(torch.Tensor, lambda t: t.to(back.get(t.dtype, t.dtype)), tree)
