"""Values: the kernel agrees with eager CPU PyTorch, NaN and infinity included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from op_registry.build.samples.sample import Sample
from op_registry.reference.checks.compare import difference
from op_registry.reference.checks.eager import expected, outcome
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
    possible = taken(declaration.eager, spoilt[:_MOST_NONFINITE])
    failures = [told for sample in possible if (told := _differs(declaration, sample))]
    return Outcome(check="nonfinite", dtype=dtype, tried=len(possible), failures=tuple(failures))


def _differs(declaration: Declaration, sample: Sample) -> str:
    eager = declaration.eager
    try:
        theirs, exact = expected(eager, sample)
        if declaration.noise and draws_differ(eager, sample):
            return random_difference(declaration.function, eager, sample)
        ours = outcome(declaration.function, sample)
    except Exception as error:  # noqa: BLE001 - whatever a kernel raises is what is told
        return f"{tell(error)} for {sample.signature()[:200]}"
    found = (_canonical(declaration, sample, one) for one in (ours, theirs, exact))
    told = difference(*found, tolerance=declaration.tolerance)
    return f"{told} for {sample.signature()[:200]}" if told else ""


def _canonical(declaration: Declaration, sample: Sample, found: Any) -> Any:
    """Return what can be compared; ``out`` arguments hold the result and go by it."""
    if found is None or declaration.canonical is None:
        return found
    result, (args, kwargs) = found
    outs = {argument.name for argument in declaration.overload._schema.arguments if argument.is_out}
    rest = {name: value for name, value in kwargs.items() if name not in outs}
    return declaration.canonical(result, *sample.args, **sample.kwargs), (args, rest)


def taken(eager: Callable[..., Any], samples: Sequence[Sample]) -> list[Sample]:
    """Return the ``samples`` that ``eager`` takes, at their dtypes or at wider ones."""
    return [sample for sample in samples if _runs(eager, sample)]


def _runs(eager: Any, sample: Sample) -> bool:
    try:
        expected(eager, sample)
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
