"""When a kernel's results count as eager PyTorch's."""

from __future__ import annotations

import math

import pytest
import torch

from op_registry.evidence import Cause
from op_registry.verify.compare import Kind, compare

INF, NAN = math.inf, math.nan


def test_equal() -> None:
    """Equal results of any dtype agree, empty ones and scalars too."""
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64):
        for shape in ((2, 3), (0, 4), ()):
            one = torch.ones(shape, dtype=dtype)
            assert compare([one], [one.clone()]) is None


def test_number_of_results() -> None:
    """A missing result is an error of shape."""
    found = compare([torch.ones(1)], [torch.ones(1), torch.ones(2)])

    assert found is not None
    assert (found.kind, found.cause) == (Kind.COUNT, Cause.SHAPE)
    assert found.message == "1 results, eager PyTorch returns 2"


def test_shape_and_dtype() -> None:
    """Shape and dtype are compared before values, also where values are anybody's."""
    right = torch.ones(2)
    shape = compare([right, torch.ones(3)], [right, torch.ones(0)], undefined={1})
    dtype = compare([torch.ones(2, dtype=torch.int32)], [torch.ones(2, dtype=torch.int64)])

    assert shape is not None
    assert shape.message == "result 1: shape [3], eager PyTorch's is [0]"
    assert dtype is not None
    assert (dtype.cause, dtype.message) == (
        Cause.DTYPE,
        "result 0: dtype int32, eager PyTorch's is int64",
    )
    assert compare([torch.zeros(2)], [torch.ones(2)], undefined={0}) is None


def test_integers_are_exact() -> None:
    """One wrong integer is named with its place; off by one is rounding, far off is overflow."""
    eager = torch.tensor([[1, 2], [3, 4]])

    off = compare([torch.tensor([[1, 2], [4, 4]])], [eager])
    wrong = compare([torch.tensor([[1, 9], [4, 4]])], [eager])
    wrapped = compare([torch.tensor([[1, -(2**62)], [3, 4]])], [eager])

    assert off is not None
    assert off.kind is Kind.ROUNDING
    assert off.message == "result 0: 1 of 4 differ, most at [1, 0]: 4, eager PyTorch 3"
    assert wrong is not None
    assert wrong.kind is Kind.VALUES
    assert wrong.message == "result 0: 2 of 4 differ, most at [0, 1]: 9, eager PyTorch 2"
    assert wrapped is not None
    assert wrapped.kind is Kind.OVERFLOW


def test_booleans_are_exact() -> None:
    """A wrong boolean is a wrong value, never rounding."""
    yes = torch.ones((), dtype=torch.bool)

    found = compare([yes], [~yes])

    assert found is not None
    assert found.kind is Kind.VALUES
    assert found.message == "result 0: 1 of 1 differ, most at []: True, eager PyTorch False"


def test_tolerance() -> None:
    """Without a reference the dtype's tolerance decides, or the one that the op is given."""
    eager, answer = torch.tensor([1.0, 100.0]), torch.tensor([1.0, 100.05])

    assert compare([answer], [eager]) is not None
    assert compare([answer], [eager], tolerance=(1e-3, 0.0)) is None
    assert compare([eager + 5e-6], [eager]) is None


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_order_of_accumulation(dtype: torch.dtype) -> None:
    """As near to the exact result as a few times eager PyTorch is right, further away is wrong."""
    eps = torch.finfo(dtype).eps
    exact = torch.tensor([1.0, 2.0], dtype=torch.float64)
    eager = (exact * (1 + 20 * eps)).to(dtype)
    near = (exact * (1 - 60 * eps)).to(dtype)
    far = (exact * (1 - 200 * eps)).to(dtype)

    assert compare([near], [eager]) is not None
    assert compare([near], [eager], [exact]) is None
    found = compare([far], [eager], [exact])
    assert found is not None
    assert found.kind is Kind.VALUES


def test_rounding_of_the_dtype() -> None:
    """Where eager is exact, a result may still be two roundings off, no more."""
    eager = torch.tensor([256.0], dtype=torch.bfloat16)
    exact = eager.double()

    assert compare([eager + 2], [eager], [exact], tolerance=(0.0, 0.0)) is None
    assert compare([eager + 8], [eager], [exact], tolerance=(0.0, 0.0)) is not None


def test_nan_and_infinity() -> None:
    """NaN and infinities stand where eager PyTorch has them, with the same sign."""
    eager = torch.tensor([NAN, INF, -INF, 1.0])
    found = [
        compare([torch.tensor(values)], [eager])
        for values in (
            [NAN, INF, -INF, 1.0],
            [0.0, INF, -INF, 1.0],
            [NAN, -INF, -INF, 1.0],
            [NAN, INF, -INF, INF],
            [NAN, INF, -INF, NAN],
        )
    ]

    assert [difference and difference.kind for difference in found] == [
        None,
        Kind.NAN,
        Kind.OVERFLOW,
        Kind.OVERFLOW,
        Kind.NAN,
    ]
    assert found[1] is not None
    assert found[1].message == "result 0: 1 of 4 differ, most at [0]: 0, eager PyTorch nan"


def test_eagers_own_overflow() -> None:
    """A finite result is right where only eager PyTorch overflows on the way, and so is eager's."""
    eager = torch.tensor([INF], dtype=torch.float16)
    exact = torch.tensor([1000.0], dtype=torch.float64)

    assert compare([torch.tensor([1000.0], dtype=torch.float16)], [eager], [exact]) is None
    assert compare([eager], [eager], [exact]) is None
    assert compare([torch.tensor([9.0], dtype=torch.float16)], [eager], [exact]) is not None


def test_complex() -> None:
    """Complex numbers agree by their distance; one that is not finite has to be so in both."""
    eager = torch.tensor([1 + 1j, complex(INF, NAN)], dtype=torch.complex64)

    assert compare([torch.tensor([1 + 1.000001j, complex(NAN, INF)])], [eager]) is None
    found = compare([torch.tensor([1 - 1j, complex(INF, 0)])], [eager])
    assert found is not None
    assert found.message == "result 0: 1 of 2 differ, most at [0]: 1-1j, eager PyTorch 1+1j"


def test_rounding_of_halves() -> None:
    """Whole floats that are off by one are rounding, so that they are told apart in a report."""
    found = compare([torch.tensor([3.0, 0.0])], [torch.tensor([2.0, 0.0])])

    assert found is not None
    assert found.kind is Kind.ROUNDING


def test_half_reference_is_ignored() -> None:
    """A reference that is no more precise, or of another shape, proves nothing."""
    eager, answer = torch.tensor([1.0]), torch.tensor([2.0])

    for useless in (torch.tensor([2.0]), torch.tensor([2.0, 2.0], dtype=torch.float64)):
        assert compare([answer], [eager], [useless]) is not None


def test_inputs_of_a_coarser_dtype() -> None:
    """A float32 result of bfloat16 inputs may be rounded as those, unless a reference is there."""
    eager, answer = torch.tensor([0.539062]), torch.tensor([0.538116])

    assert compare([answer], [eager]) is not None
    assert compare([answer], [eager], computed=torch.bfloat16) is None
    assert compare([answer], [eager], [eager.double()], computed=torch.bfloat16) is not None
