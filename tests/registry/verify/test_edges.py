"""Calls at the edge change few elements of one tensor, and nothing of the shapes."""

from __future__ import annotations

import pytest
import torch

from op_registry.verify import discrepancies
from op_registry.verify.edges import EDGES, FAR, edged
from op_registry.verify.rebuild import Call

ADD = torch.ops.aten.add.Tensor
GATHER = torch.ops.aten.gather.default


def add(dtype: torch.dtype) -> Call:
    """Return a call of two tensors of ones."""
    one = torch.ones(2, 4, dtype=dtype)
    return Call(op="aten.add.Tensor", func=ADD, values={"self": one, "other": one, "alpha": 1})


def test_names() -> None:
    """The parent, which has no torch, knows the edges."""
    assert tuple(EDGES) == discrepancies.EDGES


@pytest.mark.parametrize(
    ("edge", "dtype", "first", "last"),
    [
        ("infinity", torch.float32, float("inf"), float("-inf")),
        ("halves", torch.bfloat16, 0.5, -0.5),
        ("extremes", torch.int64, 2**63 - 1, -(2**63)),
        ("extremes", torch.float16, 65504.0, 1.0),
    ],
)
def test_elements(edge: str, dtype: torch.dtype, first: float, last: float) -> None:
    """The first tensor has the edge's elements, the second and the call's own stay as they are."""
    call = add(dtype)

    changed = edged(call, edge)

    assert changed is not None
    flat = changed.values["self"].reshape(-1)
    assert (flat[0].item(), flat[-1].item()) == (first, last)
    assert changed.values["self"].dtype is dtype
    assert bool((changed.values["other"] == 1).all())
    assert bool((call.values["self"] == 1).all())


def test_nan() -> None:
    """One NaN, at the front."""
    changed = edged(add(torch.float32), "nan")

    assert changed is not None
    assert changed.values["self"].isnan().nonzero().tolist() == [[0, 0]]


def test_edges_that_do_not_fit() -> None:
    """Integers have no NaN, booleans no largest number, a call without an index none too far."""
    assert edged(add(torch.int64), "nan") is None
    assert edged(add(torch.bool), "extremes") is None
    assert edged(add(torch.float32), "indices") is None


def test_indices() -> None:
    """Only an index goes out of range; numbers at the edge leave it in range."""
    values = {"self": torch.ones(3), "dim": 0, "index": torch.tensor([2]), "sparse_grad": False}
    call = Call(op="aten.gather.default", func=GATHER, values=values)

    far, large = edged(call, "indices"), edged(call, "extremes")

    assert far is not None
    assert far.values["index"].tolist() == [FAR]
    assert large is not None
    assert large.values["index"].tolist() == [2]
    assert large.values["self"].isfinite().all()
