"""Patches with their row and column in front of their pixels (Pix2Struct, KOSMOS 2.5)."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs.fields import find_int
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.pixels.patches import patch_size
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import channels

_PATCHES = 2048
"""What the published processors fill an image up to."""
_PLACE = 2


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes flattened patches."""
    return accepts(ctx, "flattened_patches")


def build(ctx: InputContext) -> Inputs:
    """Give as many patches an image as the processor or the config names."""
    batch, patch = ctx.settings.batch, patch_size(ctx.config)
    count = _patches(ctx)
    values = find_int(
        ctx.config, "patch_embed_hidden_size", default=channels(ctx.config) * patch * patch
    )
    kwargs: dict[str, Any] = {"flattened_patches": Floats(shape=(batch, count, _PLACE + values))}
    for side in ("width", "height"):
        if accepts(ctx, side):
            kwargs[side] = torch.full((batch,), int(count**0.5) * patch)
    return Inputs(kwargs=kwargs, assumptions=[f"image: {batch} x {count} patches"])


def _patches(ctx: InputContext) -> int:
    for content in ctx.spec.processor_configs.values():
        found = content.get("max_patches")
        if isinstance(found, int) and found > 0:
            return found
    return find_int(ctx.config, "max_num_patches", "seq_len", default=_PATCHES)


STYLE = Builder(name="flattened patches", applies=applies, build=build)
