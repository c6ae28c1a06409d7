"""The two ops of GradScaler: unscale gradients and look for overflow, then adapt the scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOURCE = "Micikevicius et al., Mixed Precision Training (2018), as in torch's AmpKernels.cpp"
_ROUNDED = "one rounding: the product is taken in f32"


def _scalar(name: str, tensor: torch.Tensor, dtype: torch.dtype) -> None:
    if tensor.numel() != 1:
        raise RuntimeError(f"{name} must be a 1-element tensor.")
    if tensor.dtype != dtype:
        raise RuntimeError(f"{name} must be a {str(dtype).removeprefix('torch.')} tensor.")


@kernel("aten._amp_foreach_non_finite_check_and_unscale.default", source=_SOURCE, accuracy=_ROUNDED)
def unscaled(
    self: Sequence[torch.Tensor], found_inf: torch.Tensor, inv_scale: torch.Tensor
) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Return the gradients ``self`` times ``inv_scale`` (1), and ``found_inf`` (1).

    ``found_inf`` becomes 1 when any gradient has an infinite or NaN element before it is scaled;
    it is never reset. No value goes to the host.
    """
    _scalar("found_inf", found_inf, torch.float32)
    _scalar("inv_scale", inv_scale, torch.float32)
    if not self:
        return [], found_inf.clone()
    if not all(gradient.is_floating_point() for gradient in self):
        raise RuntimeError("Gradients must be floating point, to be checked and unscaled")
    overflow = torch.stack([gradient.isfinite().logical_not().any() for gradient in self]).any()
    scale = inv_scale.reshape(())
    products = [_product(gradient, scale) for gradient in self]
    return products, torch.where(overflow, 1.0, found_inf)


def _product(gradient: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    wide = gradient if gradient.dtype == torch.float64 else gradient.float()
    return (wide * scale).to(gradient.dtype)


@kernel(
    "aten._amp_foreach_non_finite_check_and_unscale_.default", source=_SOURCE, accuracy=_ROUNDED
)
def unscale_in_place(
    self: Sequence[torch.Tensor], found_inf: torch.Tensor, inv_scale: torch.Tensor
) -> None:
    """Unscale the gradients ``self`` and update ``found_inf`` in place; see ``unscaled``."""
    gradients, found = unscaled(self, found_inf, inv_scale)
    for gradient, result in zip(self, gradients, strict=True):
        gradient.copy_(result)
    found_inf.copy_(found)


@kernel("aten._amp_update_scale.default", source=_SOURCE, accuracy="one rounding")
def updated_scale(
    self: torch.Tensor,
    growth_tracker: torch.Tensor,
    found_inf: torch.Tensor,
    scale_growth_factor: float,
    scale_backoff_factor: float,
    growth_interval: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the next scale ``self`` (1) and ``growth_tracker`` (1, int32).

    After an overflow the scale shrinks; after ``growth_interval`` steps without one it grows,
    unless it would become infinite. Both cases are computed and chosen from on the device.
    """
    _scalar("growth_tracker", growth_tracker, torch.int32)
    _scalar("current_scale", self, torch.float32)
    _scalar("found_inf", found_inf, torch.float32)
    overflow = found_inf != 0
    steps = growth_tracker + 1
    grows = steps == growth_interval
    grown = self * scale_growth_factor
    kept = torch.where(grows & grown.isfinite(), grown, self)
    scale = torch.where(overflow, self * scale_backoff_factor, kept)
    return scale, torch.where(overflow | grows, 0, steps)


@kernel("aten._amp_update_scale_.default", source=_SOURCE, accuracy="one rounding")
def update_scale_in_place(
    self: torch.Tensor,
    growth_tracker: torch.Tensor,
    found_inf: torch.Tensor,
    scale_growth_factor: float,
    scale_backoff_factor: float,
    growth_interval: int,
) -> torch.Tensor:
    """Update the scale ``self`` and ``growth_tracker`` in place; see ``updated_scale``."""
    factors = (scale_growth_factor, scale_backoff_factor, growth_interval)
    scale, tracker = updated_scale(self, growth_tracker, found_inf, *factors)
    growth_tracker.copy_(tracker)
    return self.copy_(scale)
