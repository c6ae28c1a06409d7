"""EasyAnimate: latents of a video; inpainting and control latents come beside them."""

from __future__ import annotations

from typing import Any

from tpu_audit.trace.inputs.diffusion.sizes import STEP, number, step
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs

_FRAMES, _HEIGHT, _WIDTH = 13, 48, 48
"""Latents of 49 frames of 384x384 pixels, the pipelines' default."""
_TEXT = 256


def build(ctx: InputContext) -> Inputs:
    """Give one denoising step; channels beyond those of a latent are the control's."""
    config, batch = ctx.config, ctx.settings.batch
    latent, total = number(config, "out_channels", 16), number(config, "in_channels", 16)
    grid = (_FRAMES, _HEIGHT, _WIDTH)
    kwargs: dict[str, Any] = {
        "hidden_states": Floats(shape=(batch, latent, *grid)),
        "timestep": step(ctx, STEP),
        "encoder_hidden_states": Floats(
            shape=(batch, _TEXT, number(config, "text_embed_dim", 3584))
        ),
    }
    if config.get("text_embed_dim_t5"):
        width = number(config, "text_embed_dim_t5", 4096)
        kwargs["encoder_hidden_states_t5"] = Floats(shape=(batch, _TEXT, width))
    if total > latent:
        kwargs["control_latents"] = Floats(shape=(batch, total - latent, *grid))
    words = f"latents {total}x{_FRAMES}x{_HEIGHT}x{_WIDTH}, text {_TEXT} tokens"
    return Inputs(kwargs=kwargs, assumptions=[words])


CLASSES = {"EasyAnimateTransformer3DModel": build}
