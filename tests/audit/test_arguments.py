"""Arguments by schema: defaults, and values that are written differently and are the same."""

from __future__ import annotations

import pytest

from tpu_audit.audit.arguments import comparable, defaults, given

SCHEMA = (
    'aten::made.up(Tensor self, int[1] dim=[], *, str mode="a, (b", Scalar alpha=1, '
    "Tensor? out_mask=None, ScalarType? dtype=None) -> (Tensor, Tensor)"
)


def test_defaults_are_read_from_the_schema() -> None:
    """Brackets and quotes do not end an argument; tensors have no default that counts."""
    assert defaults(SCHEMA) == {"dim": "[]", "mode": "a, (b", "alpha": "1.0", "dtype": "None"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        ("[1, 2]", [1, 2]),
        ("float32", "torch.float32"),
        (None, None),
        ("[a, b]", ["a", "b"]),
    ],
)
def test_equal_values_compare_equal(one: object, other: object) -> None:
    """A trace and a snapshot may spell one value in two ways."""
    assert comparable(one) == comparable(other)


@pytest.mark.parametrize(("one", "other"), [(True, 1), (None, 0), ([1], 1), ("none", None)])
def test_other_values_do_not(one: object, other: object) -> None:
    """A flag is no number, and nothing is no zero."""
    assert comparable(one) != comparable(other)


@pytest.mark.parametrize(
    ("args", "when", "expected"),
    [
        ({"mode": "x"}, {"mode": "x"}, True),
        ({"mode": "x"}, {"mode": "y"}, False),
        ({}, {"alpha": 1}, True),
        ({"alpha": 2}, {"alpha": 1}, False),
        ({"mode": "x"}, {"mode": "x", "alpha": 2}, False),
        ({}, {"nowhere": 1}, False),
        ({}, {}, True),
    ],
)
def test_what_a_call_leaves_out_counts(
    args: dict[str, str | int], when: dict[str, object], *, expected: bool
) -> None:
    """Every argument must agree, those left out by their default."""
    assert given(args, when, SCHEMA) is expected


def test_a_tensor_that_may_have_been_passed_decides_nothing() -> None:
    """A trace names tensors by dtype and shape: an optional one may be there or not."""
    assert not given({}, {"out_mask": None}, SCHEMA)
    assert given({"out_mask": None}, {"out_mask": None}, SCHEMA)
