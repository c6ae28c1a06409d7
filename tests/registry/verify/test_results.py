"""Which tensors count as the results of a call."""

from __future__ import annotations

import torch

from op_registry.build.samples.handmade.declare import call
from op_registry.verify.results import outputs, written


def test_arguments_written_to_are_found_by_the_schema() -> None:
    """In-place lists and out= tensors count as written, others do not."""
    one, two = torch.ones(2), torch.ones(2)
    add = torch.ops.aten._foreach_add_.List
    assert written(add, call([one, two], [torch.ones(2), torch.ones(2)])) == {0, 1}
    out = call(one, two, out=torch.ones(2))
    assert written(torch.ops.aten.add.out, out) == {2}
    assert written(torch.ops.aten.add.Tensor, call(one, two)) == frozenset()


def test_only_out_leaves_in_place_arguments_aside() -> None:
    """The places asked for as outputs alone hold no argument that is also read."""
    add = torch.ops.aten.add_.Tensor
    assert written(add, call(torch.ones(2), torch.ones(2)), only_out=True) == frozenset()


def test_a_written_argument_that_is_returned_counts_once() -> None:
    """The results of an in-place op are its argument, not its argument twice."""
    one, other = torch.ones(2), torch.ones(3)
    found = outputs(one, [one, other])
    assert [id(tensor) for tensor in found] == [id(one), id(other)]
