"""Static shapes: a kernel runs without values, on one device, and its shapes come out right."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)
from torch.utils import _pytree as pytree

from op_registry.reference.checks.eager import expected
from op_registry.reference.checks.outcome import Outcome, tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from op_registry.build.samples.sample import Sample
    from op_registry.reference.declare import Declaration, Kernel

_DEVICE = "meta"
"""Any but the CPU: a tensor that a kernel makes elsewhere is then told by its device."""


def check_static(declaration: Declaration, dtype: str, samples: Sequence[Sample]) -> Outcome:
    """Run the kernel on fake tensors shaped like ``samples``.

    A kernel that is declared dynamic has to need values in some of them, its static part in none.
    """
    fails = _part_fails if declaration.dynamic else _fails
    failures = [told for sample in samples if (told := fails(declaration, sample))]
    if declaration.dynamic and not any(_needs_values(declaration, sample) for sample in samples):
        failures.append("declared dynamic, but no sample needs values")
    return Outcome(check="static", dtype=dtype, tried=len(samples), failures=tuple(failures))


def _fails(declaration: Declaration, sample: Sample) -> str:
    (wanted, _), _ = expected(declaration.eager, sample)
    try:
        result = _without_values(declaration.function, sample)
    except Exception as error:  # noqa: BLE001 - whatever a kernel raises is what is told
        return f"{tell(error)} for {sample.signature()[:200]}"
    found, shapes = _shapes(result), _shapes(wanted)
    return "" if found == shapes else f"fake result {found} where eager has {shapes}"


def _part_fails(declaration: Declaration, sample: Sample) -> str:
    if declaration.static_part is None:
        return ""
    try:
        _without_values(declaration.static_part, sample)
    except Exception as error:  # noqa: BLE001 - whatever a kernel raises is what is told
        return f"static part: {tell(error)} for {sample.signature()[:200]}"
    return ""


def _needs_values(declaration: Declaration, sample: Sample) -> bool:
    try:
        _without_values(declaration.function, sample)
    except (DataDependentOutputException, DynamicOutputShapeException):
        return True
    return False


def _without_values(function: Kernel, sample: Sample) -> Any:
    with warnings.catch_warnings(), FakeTensorMode(), torch.no_grad():
        warnings.simplefilter("ignore")
        args, kwargs = pytree.tree_map(_fake, (sample.args, sample.kwargs))
        return function(*args, **kwargs)


def _fake(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=_DEVICE)
    if isinstance(value, torch.Generator):
        return None
    return torch.device(_DEVICE) if isinstance(value, torch.device) else value


def _shapes(tree: Any) -> list[tuple[list[int], torch.dtype]]:
    leaves = pytree.tree_leaves(tree)
    return [(list(t.shape), t.dtype) for t in leaves if isinstance(t, torch.Tensor)]
