"""What eager PyTorch computes for a sample."""

from __future__ import annotations

from typing import Any

import torch

from op_registry.build.samples.handmade.declare import call
from op_registry.verify.values import expected, run

_ATEN = torch.ops.aten
_TRAINING = True


def test_the_reference_is_computed_from_upcast_inputs() -> None:
    """A bfloat16 sum is given rounded, and beside it in float64."""
    x = torch.rand(1000).to(torch.bfloat16)
    found = expected(_ATEN.sum.default, call(x), torch.bfloat16)
    assert found is not None
    assert found.reference is not None
    assert found.outputs[0].dtype is torch.bfloat16
    assert found.reference[0].dtype is torch.float64
    assert torch.equal(found.reference[0], x.double().sum())


def test_a_dtype_that_is_asked_for_is_widened_too() -> None:
    """The reference of a conversion to the sample's dtype is not rounded to it."""
    found = expected(_ATEN.sum.default, call(torch.rand(9), dtype=torch.float32), torch.float32)
    assert found is not None
    assert found.reference is not None
    assert found.reference[0].dtype is torch.float64


def test_integers_have_no_reference() -> None:
    """Exact dtypes need no wider result."""
    found = expected(_ATEN.add.Tensor, call(torch.ones(2, dtype=torch.int64), 1), torch.int64)
    assert found is not None
    assert found.reference is None


def test_uninitialised_memory_is_noticed() -> None:
    """The result of empty_like has no values, that of clone has."""
    x = torch.rand(4, 4)
    empty = expected(_ATEN.empty_like.default, call(x), torch.float32)
    clone = expected(_ATEN.clone.default, call(x), torch.float32)
    assert empty is not None
    assert clone is not None
    assert empty.undefined == (0,)
    assert clone.undefined == ()


def test_a_write_that_the_schema_hides_is_noticed_and_returned() -> None:
    """Batch norm in training changes its running statistics; they are results as well."""
    x, one, zero = torch.randn(4, 3, 2), torch.ones(3), torch.zeros(3)
    sample = call(x, one, zero, zero.clone(), one.clone(), _TRAINING, 0.1, 1e-5)
    found = expected(_ATEN.native_batch_norm.default, sample, torch.float32)
    assert found is not None
    assert found.hidden == {3, 4}
    assert len(found.outputs) == 5
    assert torch.allclose(found.outputs[3], 0.1 * x.mean((0, 2)))


def test_a_call_that_the_cpu_refuses_gives_nothing() -> None:
    """No values are made up for a call that raises."""
    refused = call(torch.ones(2, 3), torch.ones(2, 3))
    assert run(_ATEN.mm.default, refused) is None
    assert expected(_ATEN.mm.default, refused, torch.float32) is None


def test_the_sample_is_left_as_it_was() -> None:
    """An in-place op works on a copy."""
    x = torch.ones(3)
    found = expected(_ATEN.add_.Tensor, call(x, 1), torch.float32)
    assert found is not None
    assert torch.equal(found.outputs[0], torch.full((3,), 2.0))
    assert torch.equal(x, torch.ones(3))


def test_a_stand_in_is_asked_only_where_the_cpu_refuses() -> None:
    """A reference kernel does not replace eager PyTorch where that has an answer."""

    def wrong(*_: Any, **__: Any) -> torch.Tensor:
        return torch.full((2, 2), 7.0)

    runs = call(torch.ones(2, 2), torch.ones(2, 2))
    refused = call(torch.ones(2, 3), torch.ones(2, 3))
    one = expected(_ATEN.mm.default, runs, torch.float32, wrong)
    other = expected(_ATEN.mm.default, refused, torch.float32, wrong)
    assert one is not None
    assert other is not None
    assert (one.by_reference, one.outputs[0][0, 0].item()) == (False, 2.0)
    assert (other.by_reference, other.outputs[0][0, 0].item()) == (True, 7.0)


def test_one_element_with_odd_strides_has_values() -> None:
    """A tensor expanded to a single element is contiguous and yet has no unit stride."""
    odd = torch.ones(1, 1).as_strided((1, 1), (0, 0))
    assert expected(_ATEN.neg.default, call(odd), torch.float32) is not None
