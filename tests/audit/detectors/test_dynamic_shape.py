"""TPA911: output shapes that depend on data."""

from __future__ import annotations

import pytest

from op_registry.schema import Hazard
from tests.support.calls import audit, codes, record, snapshot, tensor, use

X, MASK = tensor(4, 4), tensor(4, 4, dtype="bool")
WHY = {Hazard.DYNAMIC_SHAPE: "the shape of the output depends on the values of the input"}


def test_reading_by_a_mask() -> None:
    """``x[mask]`` has as many rows as the mask has true values, and waits for that number."""
    result = audit(use("aten.index.Tensor", X, MASK, outputs=(tensor(16),)))
    assert result.rows[0].hazards == (Hazard.HOST_SYNC, Hazard.DYNAMIC_SHAPE)
    assert codes(result) == {"TPA911"}


def test_reading_by_numbers() -> None:
    """``x[index]`` has the index's shape, whatever the registry says of the op in general."""
    registry = snapshot(record("aten.index.Tensor", hazards=WHY))
    call = use("aten.index.Tensor", X, tensor(2, dtype="int64"))
    assert codes(audit(call, registry=registry)) == set()


@pytest.mark.parametrize("values", [(), (1,), (1, 4), (4,)])
def test_writing_one_row_by_a_mask_is_a_select(values: tuple[int, ...]) -> None:
    """Values that broadcast over the selected rows need no count (seen when lowered)."""
    mask = tensor(4, dtype="bool")
    assert codes(audit(use("aten.index_put.default", X, mask, tensor(*values)))) == set()


def test_writing_many_rows_by_a_mask_counts() -> None:
    """A value for each selected element needs their number on the host."""
    result = audit(use("aten.index_put_.default", X, MASK, tensor(16)))
    assert Hazard.HOST_SYNC in result.rows[0].hazards
    assert codes(result) == {"TPA910"}


def test_writing_by_numbers() -> None:
    """``x[index] = values`` is static, although samples with masks read back to the host."""
    why = {Hazard.HOST_SYNC: "reads a value back from the device in 2 of 5 samples"}
    registry = snapshot(record("aten.index_put.default", hazards=why))
    call = use("aten.index_put.default", X, tensor(2, dtype="int64"), tensor(2, 4))
    assert codes(audit(call, registry=registry)) == set()


def test_a_python_value_has_no_shape() -> None:
    """An op that returns a number is a host sync, never a dynamic shape."""
    registry = snapshot(record("aten.equal.default", hazards=WHY))
    call = use("aten.equal.default", X, X, outputs=(), host_read=True)
    assert codes(audit(call, registry=registry)) == {"TPA910"}
