"""``unique_dim`` and ``_unique``: values without repetition."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel

_HOW_MANY = "how many different values there are depends on the data"


@kernel(
    "aten._unique.default",
    source="the same as `_unique2`, which has a TPU kernel",
    accuracy="exact; sorted also where that is not asked for, as eager's",
    dynamic=_HOW_MANY,
)
def unique(
    self: torch.Tensor, sorted: bool = True, return_inverse: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the different elements in order, and for each of ``self`` its place among them.

    The places are an empty tensor unless ``return_inverse``.
    """
    del sorted  # always
    values, places, _ = torch._unique2(self, sorted=True, return_inverse=return_inverse)
    return values, places


def ranked(
    self: torch.Tensor,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return what ``unique_dim`` knows of the slices before it knows how many of them differ.

    The place of each among the different ones, the order that sorts them, and where in that order a
    new one comes (bool).
    """
    del sorted, return_inverse, return_counts  # the schema has them
    if self.dim() == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    count = self.shape[dim]
    if count == 0:
        nothing = torch.empty(0, dtype=torch.int64, device=self.device)
        return nothing, nothing, nothing.to(torch.bool)
    places = _ranks_of_rows(self.movedim(dim, 0).reshape(count, -1))
    ordered, order = torch.sort(places, stable=True)
    return places, order, _starts(ordered)


@kernel(
    "aten.unique_dim.default",
    source="ranks of slices, joined pairwise from the ranks of their elements",
    accuracy="exact",
    dynamic=_HOW_MANY,
    static_part=ranked,
    samples=("unique",),
    nonfinite="eager sorts by a comparison that NaN breaks: its result depends on how they stand",
)
def unique_dim(
    self: torch.Tensor,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the different slices along ``dim``, the place of each of ``self`` and their counts.

    Slices are in lexicographic order. Like eager it returns all three, whatever is asked for.
    """
    del sorted, return_inverse, return_counts  # the schema has them
    places, order, starts = ranked(self, dim)
    count = places.shape[0]
    if count == 0:
        if sum(size == 0 for size in self.shape) > 1:
            raise RuntimeError(
                "There are 0 sized dimensions, and they aren't selected, so unique cannot be "
                "applied"
            )
        return self.clone(), places, order
    first = torch.nonzero(starts).squeeze(1)
    ends = torch.cat([first.narrow(0, 1, first.shape[0] - 1), first.new_full((1,), count)])
    return self.index_select(dim, order.index_select(0, first)), places, ends - first


def _ranks_of_rows(rows: torch.Tensor) -> torch.Tensor:
    """Return for each row how many different rows come before it in lexicographic order.

    Each round sorts all columns at once and joins the ranks of two neighbours into one number, so
    there are as many rounds as the number of columns has bits.
    """
    count, ranks = rows.shape[0], _ranks(rows)
    while ranks.shape[1] > 1:
        if ranks.shape[1] % 2:
            ranks = torch.nn.functional.pad(ranks, (0, 1))
        pairs = ranks.reshape(count, -1, 2)
        ranks = _ranks(pairs.select(2, 0) * count + pairs.select(2, 1))
    return ranks.squeeze(1)


def _ranks(columns: torch.Tensor) -> torch.Tensor:
    """Return for each element how many different ones of its column are smaller."""
    ordered, order = torch.sort(columns, dim=0, stable=True)
    ranks = _starts(ordered).to(torch.int64).cumsum(0) - 1
    return torch.zeros_like(order).scatter(0, order, ranks)


def _starts(ordered: torch.Tensor) -> torch.Tensor:
    """Return where along the first dimension a run of equal elements begins."""
    before = ordered.narrow(0, 0, ordered.shape[0] - 1)
    changes = ordered.narrow(0, 1, ordered.shape[0] - 1) != before
    return torch.cat([torch.ones_like(ordered.narrow(0, 0, 1), dtype=torch.bool), changes])
