"""KOSMOS: a mask over the prompt says where the image's latents go, beside no placeholder token."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs import pixels, text
from tpu_audit.trace.inputs.fields import find_int
from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts

_LATENTS = 64


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes the mask of image positions."""
    return accepts(ctx, "input_ids", "image_embeds_position_mask")


def build(ctx: InputContext) -> Inputs:
    """Give one image an item, and a prompt with room for its latents after the first token."""
    image = pixels.image(ctx)
    latents = find_int(ctx.config, "latent_query_num", default=_LATENTS)
    kwargs: dict[str, Any] = text.prompt(ctx, latents + ctx.settings.seq_len)
    mask = torch.zeros_like(kwargs["input_ids"])
    held = torch.arange(mask.shape[1])
    kwargs["image_embeds_position_mask"] = ((held > 0) & (held <= latents)).long().expand_as(mask)
    return Inputs(
        kwargs={**kwargs, **image.kwargs},
        assumptions=[
            text.say_tokens(ctx, ctx.settings.seq_len),
            *image.assumptions,
            f"{latents} positions in the prompt for each image",
        ],
    )


BUILDER = Builder(name="masked positions", applies=applies, build=build)
