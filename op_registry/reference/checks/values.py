"""Values: the kernel agrees with eager CPU PyTorch, NaN and infinity included."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from op_registry.build.samples.sample import Sample, seed
from op_registry.reference.checks.compare import difference, widened
from op_registry.reference.checks.outcome import Outcome, tell
from op_registry.reference.checks.random import draws_differ, random_difference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from op_registry.reference.declare import Declaration

_MOST_NONFINITE = 4
"""Samples that are run again with NaN and infinity in them."""


def check_values(declaration: Declaration, dtype: str, samples: Sequence[Sample]) -> Outcome:
    """Compare results and changed arguments on ``samples``."""
    failures = [told for sample in samples if (told := _differs(declaration, sample))]
    return Outcome(check="values", dtype=dtype, tried=len(samples), failures=tuple(failures))


def check_nonfinite(declaration: Declaration, dtype: str, samples: Sequence[Sample]) -> Outcome:
    """Compare results with NaN and infinity among the inputs, where eager takes them."""
    if declaration.nonfinite or declaration.noise:
        return Outcome(check="nonfinite", dtype=dtype, tried=0)
    spoilt = [s for sample in samples if (s := _spoilt(sample))]
    taken = [s for s in spoilt[:_MOST_NONFINITE] if _runs(declaration.eager, s)]
    failures = [told for sample in taken if (told := _differs(declaration, sample))]
    return Outcome(check="nonfinite", dtype=dtype, tried=len(taken), failures=tuple(failures))


def outcome(function: Callable[..., Any], sample: Sample) -> tuple[Any, Any]:
    """Run ``function`` on a copy of ``sample``; return its result, and the arguments afterwards."""
    copied = sample.copied()
    seed()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        result = function(*copied.args, **copied.kwargs)
    return result, (copied.args, copied.kwargs)


def _differs(declaration: Declaration, sample: Sample) -> str:
    eager = declaration.eager
    theirs = outcome(eager, sample)
    try:
        if declaration.noise and draws_differ(eager, sample):
            return random_difference(declaration.function, eager, sample)
        ours = outcome(declaration.function, sample)
    except Exception as error:  # noqa: BLE001 - whatever a kernel raises is what is told
        return f"{tell(error)} for {sample.signature()[:200]}"
    exact = _exact(eager, sample)
    if declaration.canonical:
        ours, theirs, exact = (
            _canonical(declaration.canonical, sample, one) for one in (ours, theirs, exact)
        )
    told = difference(ours, theirs, exact, tolerance=declaration.tolerance)
    return f"{told} for {sample.signature()[:200]}" if told else ""


def _canonical(canonical: Callable[..., Any], sample: Sample, found: Any) -> Any:
    if found is None:
        return None
    result, arguments = found
    return canonical(result, *sample.args, **sample.kwargs), arguments


def _exact(eager: Any, sample: Sample) -> Any:
    args, kwargs = widened((sample.args, sample.kwargs))
    wide = Sample(args=args, kwargs=kwargs)
    if wide.signature() == sample.signature():
        return None
    try:
        return outcome(eager, wide)
    except Exception:  # noqa: BLE001 - no wider form of this call
        return None


def _runs(eager: Any, sample: Sample) -> bool:
    try:
        outcome(eager, sample)
    except Exception:  # noqa: BLE001 - eager refuses the call
        return False
    return True


def _spoilt(sample: Sample) -> Sample | None:
    def spoil(tensor: torch.Tensor) -> torch.Tensor:
        if not tensor.is_floating_point() or tensor.numel() < len(_BAD):
            return tensor
        flat = tensor.clone(memory_format=torch.contiguous_format).reshape(-1)
        step = max(1, flat.numel() // len(_BAD))
        for place, bad in enumerate(_BAD):
            flat[place * step] = bad
        return flat.reshape(tensor.shape)

    args, kwargs = pytree.tree_map_only(torch.Tensor, spoil, (sample.args, sample.kwargs))
    changed = any(t.is_floating_point() and t.numel() >= len(_BAD) for t in sample.tensors())
    return Sample(args=args, kwargs=kwargs) if changed else None


_BAD = (float("nan"), float("inf"), -float("inf"))
