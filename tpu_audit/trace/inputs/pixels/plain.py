"""One image of one size an item, with its size or a mask where the model asks for them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch

from tpu_audit.trace.inputs.images import pixels, say_images
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import channels, config_size, image_size

if TYPE_CHECKING:
    from torch import nn

_DETECTION = 640
"""Side of an image for detectors whose config names no size (a common training resolution)."""
_HIGH_RESOLUTION = 1024
_TOWERS = ("vision_tower", "vision_model", "vision_encoder", "visual")
"""What models call their image encoder."""


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes pixels at all."""
    return accepts(ctx, "pixel_values")


def build(ctx: InputContext) -> Inputs:
    """Give ``batch`` images."""
    masked = accepts(ctx, "pixel_mask")
    size = image_size(ctx, default=_DETECTION) if masked else image_size(ctx)
    kwargs: dict[str, Any] = {"pixel_values": pixels(ctx, size)}
    if masked:
        shape = (ctx.settings.batch, size.height, size.width)
        kwargs["pixel_mask"] = torch.ones(shape, dtype=torch.int64)
    if accepts(ctx, "image_sizes") and _tower_takes(ctx.model, "image_sizes"):
        kwargs["image_sizes"] = torch.tensor([[size.height, size.width]] * ctx.settings.batch)
    if accepts(ctx, "high_res_pixel_values"):
        kwargs["high_res_pixel_values"] = _high_resolution(ctx)
    note = ", no local crops" if accepts(ctx, "pixel_values_local") else ""
    return Inputs(kwargs=kwargs, assumptions=[say_images(ctx, size, note)])


def _high_resolution(ctx: InputContext) -> Floats:
    section = getattr(ctx.config, "high_res_vision_config", None)
    size = config_size(section) or (_HIGH_RESOLUTION, _HIGH_RESOLUTION)
    return Floats(shape=(ctx.settings.batch, channels(ctx.config), *size))


def _tower_takes(model: nn.Module, name: str) -> bool:
    """Tell whether some encoder inside takes ``name``, or the model's features need it.

    The heads of many models pass ``image_sizes`` on, but only some towers (Pixtral) know it.
    """
    method = getattr(model, "get_image_features", None)
    parameter = inspect.signature(method).parameters.get(name) if method else None
    if parameter is not None and parameter.default is inspect.Parameter.empty:
        return True
    return any(
        name in inspect.signature(module.forward).parameters
        for path, module in model.named_modules()
        if path.rpartition(".")[2] in _TOWERS
    )


STYLE = Builder(name="plain", applies=applies, build=build)
