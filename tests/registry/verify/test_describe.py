"""The record of a sample's arguments."""

from __future__ import annotations

import json
import math

import torch

from op_registry.build.samples.handmade.declare import call
from op_registry.verify.describe import arguments


def test_plain_arguments_and_tensors_are_told_apart() -> None:
    """Defaults are filled in; tensors are given by dtype and shape."""
    plain, tensors = arguments(torch.ops.aten.add.Tensor, call(torch.ones(2, 3), torch.ones(3)))
    assert plain == {"alpha": 1}
    assert tensors == {"self": ["float32", [2, 3]], "other": ["float32", [3]]}


def test_lists_of_tensors_may_have_holes() -> None:
    """An index list keeps its None."""
    sample = call(torch.ones(2, 3), [None, torch.tensor([0])])
    tensors = arguments(torch.ops.aten.index.Tensor, sample)[1]
    assert tensors["indices"] == [None, ["int64", [1]]]


def test_everything_is_json() -> None:
    """Infinities and dtypes become text."""
    sample = call(torch.ones(2), math.inf)
    plain, _ = arguments(torch.ops.aten.full_like.default, sample)
    assert plain["fill_value"] == "inf"
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
