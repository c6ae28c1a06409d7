"""GradScaler's ops: what they refuse."""

from __future__ import annotations

import pytest
import torch

from op_registry.reference.kernels.amp import unscale_in_place, update_scale_in_place

FOUND = torch.tensor([0.0])


@pytest.mark.parametrize(
    ("found", "scale", "told"),
    [
        (torch.zeros(2), torch.tensor([0.5]), "found_inf must be a 1-element tensor"),
        (FOUND, torch.tensor([0.5], dtype=torch.float64), "inv_scale must be a float32 tensor"),
    ],
)
def test_wrong_scalars_are_refused(found: torch.Tensor, scale: torch.Tensor, told: str) -> None:
    """A flag or scale that is no single f32 number is named, as eager names it."""
    with pytest.raises(RuntimeError, match=told):
        unscale_in_place([torch.ones(2)], found, scale)


def test_integer_gradients_are_refused() -> None:
    """Integers have no infinity to look for."""
    with pytest.raises(RuntimeError, match="floating point"):
        unscale_in_place([torch.ones(2, dtype=torch.int64)], FOUND, torch.tensor([0.5]))


def test_a_tracker_of_another_dtype_is_refused() -> None:
    """The step counter is an int32, as GradScaler makes it."""
    with pytest.raises(RuntimeError, match="growth_tracker must be a int32 tensor"):
        update_scale_in_place(torch.ones(1), torch.zeros(1), FOUND, 2.0, 0.5, 3)
