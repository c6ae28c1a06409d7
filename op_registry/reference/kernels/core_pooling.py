"""Average pooling as sums of shifted reads."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence


@kernel(
    "aten.avg_pool2d.default",
    source="definition",
    accuracy="as `sum`, in float32 for shorter types",
)
def avg_pool2d(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> torch.Tensor:
    """Return the means of windows of ``self`` (*, height, width).

    A window is divided by its elements inside the padded input; by those inside the input without
    ``count_include_pad``; by ``divisor_override`` when given.
    """
    size, pads = _two(kernel_size), _two(padding)
    steps = _two(stride) if stride else size
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    for k, p in zip(size, pads, strict=True):
        if p > k // 2 or p < 0:
            raise RuntimeError(f"pad should be at most half of effective kernel size, got {p}, {k}")
    planes = self.float() if self.dtype in {torch.bfloat16, torch.float16} else self
    counts = [
        _windows(n, k, s, p, ceil_mode=ceil_mode)
        for n, k, s, p in zip(self.shape[-2:], size, steps, pads, strict=True)
    ]
    total = _summed(planes, size, steps, pads, counts)
    if divisor_override is not None:
        return (total / divisor_override).to(self.dtype)
    shape = [n + 2 * p for n, p in zip(self.shape[-2:], pads, strict=True)]
    inside = torch.ones(shape if count_include_pad else self.shape[-2:], device=self.device)
    divisor = _summed(
        inside.to(planes.dtype), size, steps, [0, 0] if count_include_pad else pads, counts
    )
    result = total / divisor
    return (result if planes.dtype.is_floating_point else result.trunc()).to(self.dtype)


def _two(given: Sequence[int]) -> list[int]:
    return [given[0], given[0]] if len(given) == 1 else list(given)


def _windows(n: int, k: int, s: int, p: int, *, ceil_mode: bool) -> int:
    """Return how many windows there are; with ``ceil_mode`` the last may hang over the end."""
    span = n + 2 * p - k
    count = -(-span // s) + 1 if ceil_mode else span // s + 1
    return count - 1 if ceil_mode and (count - 1) * s >= n + p else count


def _summed(
    planes: torch.Tensor,
    size: Sequence[int],
    steps: Sequence[int],
    pads: Sequence[int],
    counts: Sequence[int],
) -> torch.Tensor:
    ends = [
        max(0, (c - 1) * s + k - n - p)
        for n, k, s, p, c in zip(planes.shape[-2:], size, steps, pads, counts, strict=True)
    ]
    padded = torch.constant_pad_nd(planes, [pads[1], ends[1], pads[0], ends[0]])
    total = torch.zeros((), dtype=planes.dtype, device=planes.device)
    for y, x in itertools.product(*map(range, size)):  # over the window's elements
        rows = slice(y, y + (counts[0] - 1) * steps[0] + 1, steps[0])
        columns = slice(x, x + (counts[1] - 1) * steps[1] + 1, steps[1])
        total = total + padded[..., rows, columns]
    return total
