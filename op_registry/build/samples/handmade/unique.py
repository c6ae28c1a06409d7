"""``_unique``, which no function of PyTorch's own calls any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample


@handmade("aten._unique.default")
def unique(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield tensors with repetitions, with and without the places of their elements."""
    if not dtype.is_complex:
        for shape, return_inverse in (((8,), True), ((3, 4), True), ((2, 3), False), ((0,), True)):
            yield call(torch.randint(0, 5, shape).to(dtype), True, return_inverse)  # noqa: FBT003
