"""``histogram`` and ``histogramdd``: how many points, or how much weight, falls into each bin."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOURCE = "binary search in the edges, then a scatter"
_ACCURACY = "order of summation; a range that is not finite is not reported"


@kernel("aten.histogram.bin_ct", source=_SOURCE, accuracy=_ACCURACY)
def histogram(
    self: torch.Tensor,
    bins: int = 100,
    *,
    range: Sequence[float] | None = None,
    weight: torch.Tensor | None = None,
    density: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return counts (``bins``) and edges (``bins`` + 1) of equal bins over all elements.

    They span ``range``, or else from the smallest to the largest element. ``weight``, shaped like
    ``self``, counts instead of one; with ``density`` the integral becomes one.
    """
    points = self.reshape(-1, 1)
    edges = histogramdd_bin_edges(points, [bins], range=range)
    flat = None if weight is None else weight.reshape(-1)
    return _counted(points, edges, flat, density=density), edges[0]


@kernel("aten.histogram.bins_tensor", source=_SOURCE, accuracy=_ACCURACY)
def histogram_of_edges(
    self: torch.Tensor,
    bins: torch.Tensor,
    *,
    weight: torch.Tensor | None = None,
    density: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return counts between the increasing edges ``bins``, and the edges, as above."""
    flat = None if weight is None else weight.reshape(-1)
    return _counted(self.reshape(-1, 1), [bins], flat, density=density), bins.clone()


@kernel(
    "aten._histogramdd_bin_edges.default",
    samples=("histogramdd",),
    source="definition",
    accuracy=_ACCURACY,
)
def histogramdd_bin_edges(
    self: torch.Tensor,
    bins: Sequence[int],
    *,
    range: Sequence[float] | None = None,
    weight: torch.Tensor | None = None,
    density: bool = False,
) -> list[torch.Tensor]:
    """Return for each of the last dimension's coordinates the edges of so many equal bins.

    ``range`` holds the two ends of each, or else they are the smallest and the largest coordinate;
    half of one to either side where these are equal.
    """
    del weight, density  # the schema has them
    points = self.reshape(-1, self.shape[-1])
    if len(bins) != points.shape[1]:
        raise RuntimeError(f"expected {points.shape[1]} numbers of bins, but got {len(bins)}")
    if range is not None and len(range) != 2 * len(bins):
        raise RuntimeError(f"expected {2 * len(bins)} ends of ranges, but got {len(range)}")
    edges = []
    for place, count in enumerate(bins):
        if count <= 0:
            raise RuntimeError("bins must be positive")
        if range is not None:
            low = points.new_full((), range[2 * place])
            high = points.new_full((), range[2 * place + 1])
        elif points.shape[0] == 0:
            low, high = points.new_zeros(()), points.new_ones(())
        else:
            low, high = points.select(1, place).amin(), points.select(1, place).amax()
        edges.append(_spaced(low, high, count))
    return edges


@kernel(
    "aten._histogramdd_from_bin_cts.default",
    samples=("histogramdd",),
    source=_SOURCE,
    accuracy=_ACCURACY,
)
def histogramdd(
    self: torch.Tensor,
    bins: Sequence[int],
    *,
    range: Sequence[float] | None = None,
    weight: torch.Tensor | None = None,
    density: bool = False,
) -> torch.Tensor:
    """Return the counts (one dimension a coordinate) of points (..., coordinates) in equal bins."""
    return histogramdd_of_edges(
        self, histogramdd_bin_edges(self, bins, range=range), weight=weight, density=density
    )


@kernel(
    "aten._histogramdd_from_bin_tensors.default",
    samples=("histogramdd",),
    source=_SOURCE,
    accuracy=_ACCURACY,
)
def histogramdd_of_edges(
    self: torch.Tensor,
    bins: Sequence[torch.Tensor],
    *,
    weight: torch.Tensor | None = None,
    density: bool = False,
) -> torch.Tensor:
    """Return the counts of points (..., coordinates) between the increasing edges of each."""
    flat = None if weight is None else weight.reshape(-1)
    return _counted(self.reshape(-1, self.shape[-1]), bins, flat, density=density)


def _spaced(low: torch.Tensor, high: torch.Tensor, count: int) -> torch.Tensor:
    equal = low == high
    low, high = torch.where(equal, low - 0.5, low), torch.where(equal, high + 0.5, high)
    step = (high - low) / count
    places = torch.arange(count + 1, dtype=low.dtype, device=low.device)
    # From the nearer end, so that both ends are exact.
    return torch.where(
        places < (count + 1) // 2, low + step * places, high - step * (count - places)
    )


def _counted(
    points: torch.Tensor,
    edges: Sequence[torch.Tensor],
    weight: torch.Tensor | None,
    *,
    density: bool,
) -> torch.Tensor:
    """Return the counts of ``points`` (number, coordinates) between ``edges``."""
    shape = [edge.shape[0] - 1 for edge in edges]
    flat = torch.zeros_like(points.select(1, 0), dtype=torch.int64)
    inside = torch.ones_like(flat, dtype=torch.bool)
    for place, edge in enumerate(edges):
        x = points.select(1, place).contiguous()
        index = torch.bucketize(x, edge, right=True) - 1
        inside = inside & (x >= edge.select(0, 0)) & (x <= edge.select(0, shape[place]))
        # The last edge belongs to the last bin.
        flat = flat * shape[place] + index.clamp(0, shape[place] - 1)
    ones = torch.ones_like(points.select(1, 0)) if weight is None else weight.to(points.dtype)
    counts = points.new_zeros(math.prod(shape))
    counts = counts.scatter_add(0, flat, torch.where(inside, ones, 0)).reshape(shape)
    return _dense(counts, edges) if density else counts


def _dense(counts: torch.Tensor, edges: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return ``counts`` divided by their sum and by the volumes of the bins."""
    counts = counts / counts.sum()
    for place, edge in enumerate(edges):
        shape = [-1 if k == place else 1 for k in range(len(edges))]
        counts = counts / edge.diff().reshape(shape)
    return counts
