"""Sizes that follow from a component's config, or from those beside it in the pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tpu_audit.trace.inputs.fields import as_int

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tpu_audit.trace.inputs.interface import InputContext

SCALE = 8
"""Pixels a latent, along a side, of most autoencoders."""
STEP = 999.0
"""A timestep: the first of a thousand. Known, since some schedules look at it."""


def number(config: Mapping[str, Any], name: str, default: int) -> int:
    """Return a positive integer field of a config, else ``default``."""
    value = config.get(name)
    return (
        as_int(int(value) if isinstance(value, float) and value.is_integer() else value) or default
    )


def pair(value: Any, default: tuple[int, int]) -> tuple[int, int]:
    """Read a size that is a number or (height, width)."""
    if isinstance(value, list | tuple) and len(value) > 1:
        height, width = as_int(value[0]), as_int(value[1])
        return (height, width) if height and width else default
    side = as_int(value)
    return (side, side) if side else default


def sibling(ctx: InputContext, prefix: str) -> Mapping[str, Any] | None:
    """Return the config of the pipeline's first component whose class begins with ``prefix``."""
    for config in ctx.spec.siblings.values():
        name = config.get("_class_name") or (config.get("architectures") or [""])[0]
        if isinstance(name, str) and name.startswith(prefix):
            return config
    return None


def vae_scale(config: Mapping[str, Any] | None) -> int:
    """Return pixels a latent of an image autoencoder: it halves after all blocks but the last."""
    blocks = (config or {}).get("block_out_channels")
    return 2 ** (len(blocks) - 1) if isinstance(blocks, list | tuple) and blocks else SCALE


def step(ctx: InputContext, value: float = STEP) -> torch.Tensor:
    """Return timesteps as most transformers take them: (batch,), floating point."""
    dtype: torch.dtype = getattr(torch, ctx.settings.dtype)
    return torch.full((ctx.settings.batch,), value, dtype=dtype)
