"""Autocast on the pretended device casts what the wheel's casts, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.wheel import both, needs_wheel

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.trace.conftest import Record

MODELS = Path(__file__).parents[1] / "support" / "autocast_models.py"


@needs_wheel
@pytest.mark.tpu
def test_models_are_cast_as_the_wheel_casts_them() -> None:
    """Every call under autocast has the same dtypes, shapes and counts on both dispatchers."""
    pretended, real = both(MODELS)

    cast, expected = (
        {name: sorted(one["calls"]) for name, one in answers.items()}
        for answers in (pretended, real)
    )
    assert cast == expected
    assert len(real) == 16


def _under_autocast(record: Record, call: Callable[[], object]) -> list[tuple[str, str, int]]:
    """Return (op, dtype of the first output, calls) of ``call`` under autocast to bfloat16."""
    import torch

    def run() -> object:
        with torch.autocast("tpu", dtype=torch.bfloat16):
            return call()

    found = [(u.op, u.outputs[0].dtype, u.count) for u in record(run)]
    return [one for one in found if not one[0].startswith("aten.empty")]


def test_products_are_cast_down_and_losses_up(record: Record) -> None:
    """A matmul of float32 computes in bfloat16; its loss is taken in float32."""
    import torch

    def call() -> object:
        x = torch.empty(4, 8, device="tpu")
        return torch.nn.functional.mse_loss(torch.mm(x, torch.empty(8, 8, device="tpu")), x)

    assert _under_autocast(record, call) == [
        ("aten._to_copy.default", "bfloat16", 1),
        ("aten._to_copy.default", "bfloat16", 1),
        ("aten.mm.default", "bfloat16", 1),
        ("aten._to_copy.default", "float32", 1),
        ("aten.mse_loss.default", "float32", 1),
    ]


def test_other_ops_and_dtypes_pass_by(record: Record) -> None:
    """No policy, no cast: additions, doubles, integers."""
    import torch

    def call() -> object:
        x = torch.empty(4, 4, device="tpu", dtype=torch.float64)
        whole = torch.ones(4, device="tpu", dtype=torch.int64)
        return torch.mm(x, x), whole + whole

    casts = [op for op, _, _ in _under_autocast(record, call) if op == "aten._to_copy.default"]
    assert casts == []


def test_a_result_is_widened_where_only_that_is_asked(record: Record) -> None:
    """The product of elements is told to give float32; a dtype that is named stays."""
    import torch

    def call() -> object:
        x = torch.empty(4, device="tpu", dtype=torch.bfloat16)
        return x.prod(), x.prod(dtype=torch.bfloat16)

    assert _under_autocast(record, call) == [
        ("aten.prod.default", "float32", 1),
        ("aten.prod.default", "bfloat16", 1),
    ]


def test_a_weight_is_cast_once_in_a_region(record: Record) -> None:
    """Weights are remembered until the outermost autocast ends, as in torch."""
    import torch

    def call() -> object:
        weight = torch.nn.Parameter(torch.empty(8, 8, device="tpu"))
        x = torch.empty(4, 8, device="tpu", dtype=torch.bfloat16)
        with torch.autocast("tpu", dtype=torch.bfloat16):
            torch.mm(x, weight)
        return torch.mm(x, weight)

    casts = [n for op, _, n in _under_autocast(record, call) if op == "aten._to_copy.default"]
    assert casts == [1]
