"""Cosmos: latents of an image or a video, and a mask of what is padding."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import torch

from tpu_audit.trace.inputs.diffusion.sizes import SCALE, number
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs
from tpu_audit.types.errors import NotAuditedError, Stage

_HEIGHT, _WIDTH = 88, 160
"""Latents of an image of 704x1280 pixels, the pipelines' default."""
_TEXT = 512
_SIGMA = 0.5


def build(ctx: InputContext) -> Inputs:
    """Give one denoising step of a single frame."""
    config, batch = ctx.config, ctx.settings.batch
    channels = number(config, "in_channels", 16)
    width = number(
        config,
        "crossattn_proj_in_channels"
        if config.get("use_crossattn_projection")
        else "text_embed_dim",
        1024,
    )
    dtype: torch.dtype = getattr(torch, ctx.settings.dtype)
    kwargs: dict[str, Any] = {
        "hidden_states": Floats(shape=(batch, channels, 1, _HEIGHT, _WIDTH)),
        "timestep": torch.full((batch,), _SIGMA, dtype=dtype),
        "encoder_hidden_states": Floats(shape=(batch, _TEXT, width)),
    }
    if config.get("concat_padding_mask", True):
        _need_torchvision(ctx)
        kwargs["padding_mask"] = Floats(shape=(1, 1, _HEIGHT * SCALE, _WIDTH * SCALE))
    words = f"latents {channels}x1x{_HEIGHT}x{_WIDTH}, text {_TEXT} tokens"
    return Inputs(kwargs=kwargs, assumptions=[words])


def _need_torchvision(ctx: InputContext) -> None:
    if find_spec("torchvision") is None:
        raise NotAuditedError(
            f"{type(ctx.model).__name__} resizes its mask with torchvision, which is not installed",
            stage=Stage.INPUTS,
            code="missing_dependency",
            hint="pip install torchvision",
        )


CLASSES = {"CosmosTransformer3DModel": build}
