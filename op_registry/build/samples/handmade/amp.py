"""Samples of GradScaler's ops: with and without overflow, the scale at its turning points."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_UNSCALE = "aten._amp_foreach_non_finite_check_and_unscale"
_INTERVAL = 3


@handmade(f"{_UNSCALE}.default", f"{_UNSCALE}_.default")
def unscale(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield lists of gradients: finite, with an infinity, with a NaN; found before; no gradient."""
    if not dtype.is_floating_point:
        return
    cases = itertools.product((1.0, float("inf"), float("nan")), (0.0, 1.0))
    for count, (bad, found) in enumerate(cases, 1):
        gradients = [torch.randn(4, 3 + place).to(dtype) for place in range(count)]
        gradients[-1][1, 2] = bad
        yield call(gradients, torch.tensor([found]), torch.tensor([2.0**-8]))
    if dtype is torch.float32:
        yield call([], torch.tensor([0.0]), torch.tensor([0.5]))


@handmade("aten._amp_update_scale.default", "aten._amp_update_scale_.default")
def update_scale(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield steps with and without overflow, before, at and after the growth interval."""
    if dtype is not torch.float32:
        return
    for scale, found, steps in (
        *itertools.product((1024.0,), (0.0, 1.0), (0, _INTERVAL - 1, _INTERVAL)),
        (3e38, 0.0, _INTERVAL - 1),
    ):
        # Another factor each, by which they are kept apart.
        factors = (2.0 + steps + scale / 1e39, 0.5 - found / 8, _INTERVAL)
        tracker = torch.tensor([steps], dtype=torch.int32)
        yield call(torch.tensor([scale]), tracker, torch.tensor([found]), *factors)
