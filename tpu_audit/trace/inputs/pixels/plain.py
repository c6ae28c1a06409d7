"""One image of one size per item, with its size in pixels where the model asks for it."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import nn

from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import image_size
from tpu_audit.trace.inputs.vision import pixels, say_images


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes pixels at all."""
    return accepts(ctx, "pixel_values")


def build(ctx: InputContext) -> Inputs:
    """Give ``batch`` images."""
    size = image_size(ctx)
    kwargs: dict[str, Any] = {"pixel_values": pixels(ctx, size)}
    if accepts(ctx, "image_sizes") and _tower_takes(ctx.model, "image_sizes"):
        kwargs["image_sizes"] = torch.tensor([[size.height, size.width]] * ctx.settings.batch)
    return Inputs(kwargs=kwargs, assumptions=[say_images(ctx, size)])


def _tower_takes(model: nn.Module, name: str) -> bool:
    """Tell whether some encoder inside takes ``name``, or the model's features need it.

    The heads of many models pass ``image_sizes`` on, but only some towers (Pixtral) know it.
    """
    method = getattr(model, "get_image_features", None)
    parameter = inspect.signature(method).parameters.get(name) if method else None
    if parameter is not None and parameter.default is inspect.Parameter.empty:
        return True
    towers = (module for path, module in model.named_modules() if path.count(".") in (1, 2))
    return any(name in inspect.signature(tower.forward).parameters for tower in towers)


STYLE = Builder(name="plain", applies=applies, build=build)
