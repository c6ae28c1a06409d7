"""Derived overloads: the in-place and ``out=`` forms give what eager PyTorch's give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from op_registry.build.samples.sample import Sample
from op_registry.build.table import overload_of
from op_registry.reference.checks.compare import difference
from op_registry.reference.checks.eager import expected, outcome
from op_registry.reference.checks.outcome import Outcome, tell
from op_registry.reference.derived import derive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from op_registry.reference.declare import Declaration
    from op_registry.reference.derived import Derived

_MOST = 3
"""Samples of one overload: what is derived has no more cases than these."""


def check_derived(declaration: Declaration, dtype: str, samples: Sequence[Sample]) -> Outcome:
    """Compare results and changed arguments of every derived overload that eager takes."""
    if declaration.noise or not declaration.here or declaration.expected is not None:
        return Outcome(check="derived", dtype=dtype, tried=0)
    failures, tried = [], 0
    for form in derive(declaration):
        for sample in samples[:_MOST]:
            told = _compared(form, declaration, sample)
            tried += told is not None
            failures += [f"{form.op}: {told}"] if told else []
    return Outcome(check="derived", dtype=dtype, tried=tried, failures=tuple(failures))


def _compared(form: Derived, declaration: Declaration, sample: Sample) -> str | None:
    """Return how the form differs from eager's, None when eager refuses the call."""
    eager: Any = overload_of(form.op)
    given = _with_outputs(eager, declaration, sample)
    try:
        theirs, exact = expected(eager, given)
    except Exception:  # noqa: BLE001 - an in-place form does not broadcast, and the like
        return None
    if given is sample and _shapes(theirs[1]) != _shapes((sample.args, sample.kwargs)):
        return None  # eager resized an argument that is no output, which no kernel has to
    try:
        ours = outcome(form.function, given)
    except Exception as error:  # noqa: BLE001 - whatever a kernel raises is what is told
        return tell(error)
    if declaration.canonical:
        ours, theirs, exact = (
            found and _canonical(declaration, sample, found) for found in (ours, theirs, exact)
        )
    return difference(ours, theirs, exact, tolerance=max(1.0, declaration.tolerance))


def _with_outputs(eager: Any, declaration: Declaration, sample: Sample) -> Sample:
    """Add empty tensors for the results, which the call has to resize."""
    names = [argument.name for argument in eager._schema.arguments if argument.is_out]
    if not names:
        return sample
    (results, _), _ = expected(declaration.eager, sample)
    made = (results,) if len(names) == 1 else results
    outs = {name: _empty(result) for name, result in zip(names, made, strict=True)}
    return Sample(args=sample.args, kwargs=sample.kwargs | outs)


def _empty(result: Any) -> Any:
    if isinstance(result, list | tuple):
        return [_empty(one) for one in result]
    return torch.empty(0) if result is None else result.new_empty(0)


def _canonical(declaration: Declaration, sample: Sample, found: Any) -> Any:
    result, arguments = found
    assert declaration.canonical is not None  # noqa: S101 - asked before
    made = declaration.canonical(result, *sample.args, **sample.kwargs)
    return made, _shapes(arguments)


def _shapes(tree: Any) -> list[torch.Size]:
    return [leaf.shape for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
