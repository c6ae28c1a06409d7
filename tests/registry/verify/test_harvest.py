"""How samples are filed and ordered."""

from __future__ import annotations

import torch

from op_registry.build.samples.handmade.declare import call
from op_registry.verify.harvest import filed_under, ordered


def test_a_sample_is_filed_by_its_leading_dtype() -> None:
    """An embedding counts by its weight, a sample without tensors nowhere."""
    assert filed_under(call(torch.ones(3, 2), torch.tensor([0]))) == "float32"
    assert filed_under(call(torch.tensor([1]))) == "int64"
    assert filed_under(call(3)) is None


def test_the_most_telling_come_first() -> None:
    """Larger ones lead, each choice of arguments has its turn, empty tensors come last."""
    small, large, empty = call(torch.ones(2), 0), call(torch.ones(5), 0), call(torch.ones(0), 0)
    other = call(torch.ones(2), 1)
    found = ordered([empty, small, large, other])
    assert [one.args[0].numel() for one in found] == [5, 2, 2, 0]
    assert [one.args[1] for one in found] == [0, 1, 0, 0]
