"""Torch's own test inputs, made shorter."""

from __future__ import annotations

import torch

from op_registry.build.samples.suite import shortened


def test_long_lists_keep_their_ends() -> None:
    """Every list as long as the first one is cut at the same places, scalars a tensor included."""
    tensors = [torch.full((size,), float(size)) for size in range(9, 0, -1)]
    args, kwargs = shortened((tensors, tensors), {"scalars": torch.arange(9), "value": 2})
    assert [[len(one) for one in value] for value in args] == [[9, 8, 7, 1]] * 2
    assert kwargs["scalars"].tolist() == [0, 1, 2, 8]
    assert kwargs["value"] == 2


def test_others_stay() -> None:
    """Short lists, lists of another length and calls without lists are left alone."""
    pair = [torch.ones(2), torch.ones(2)]
    assert shortened((pair, 1), {})[0][0] is pair
    long = list(range(20))
    assert shortened((torch.ones(20), long), {})[0][1] is long
    assert shortened(([torch.ones(1)] * 9, long), {})[0][1] is long
