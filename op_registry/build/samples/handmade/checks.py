"""Samples of ops that check a value on the device, and of one that observes and quantises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_RATE, _LOWEST, _HIGHEST, _AXIS = 0.1, -128, 127, 0


@handmade("aten._assert_async.msg")
def assertion(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield a value that holds, with what to say if it did not."""
    yield call(torch.ones(1).to(dtype), "a message")


@handmade("aten._fused_moving_avg_obs_fq_helper.default")
def observer(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield ranges for all, and for each row, with a first range and none yet."""
    for rows, first in ((1, False), (1, True), (3, False)) if dtype is torch.float32 else ():
        on = torch.ones(1, dtype=torch.int64)
        edge = torch.full((rows,), torch.inf if first else 0.5)
        scale, zero = torch.ones(rows), torch.zeros(rows, dtype=torch.int32)
        state = (on, on.clone(), edge, -edge if first else edge + 1, scale, zero)
        yield call(torch.randn(3, 4), *state, _RATE, _LOWEST, _HIGHEST, _AXIS, rows > 1)
