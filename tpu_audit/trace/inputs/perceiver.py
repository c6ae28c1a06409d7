"""Perceiver: one argument, ``inputs``, whose form depends on the head's preprocessor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpu_audit.trace.inputs.fields import find_int
from tpu_audit.trace.inputs.images import pixels
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import image_size
from tpu_audit.trace.inputs.tokens import token_ids

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

_PATCH_CHANNELS = 27
"""Optical flow: each pixel with its 3 x 3 neighbours, three channels each."""


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes ``inputs`` and the model is a Perceiver."""
    return ctx.model_type == "perceiver" and accepts(ctx, "inputs")


def build(ctx: InputContext) -> Inputs:
    """Give bytes, an image, two frames or plain vectors, as the head's name tells."""
    name = type(ctx.model).__name__
    make = next((make for hint, make in _BY_HEAD.items() if hint in name), _vectors)
    value, said = make(ctx)
    return Inputs(kwargs={"inputs": value}, assumptions=[said])


def _bytes(ctx: InputContext) -> tuple[torch.Tensor, str]:
    length = find_int(ctx.config, "max_position_embeddings", default=ctx.settings.seq_len)
    ids = token_ids(ctx.config, ctx.settings.batch, length)
    return ids, f"text: {ctx.settings.batch} x {length} bytes, the length the decoder answers"


def _image(ctx: InputContext) -> tuple[Floats, str]:
    size = image_size(ctx)
    return pixels(ctx, size), f"image: {ctx.settings.batch} x {size}"


def _frames(ctx: InputContext) -> tuple[Floats, str]:
    height, width = (int(side) for side in ctx.config.train_size)
    shape = (ctx.settings.batch, 2, _PATCH_CHANNELS, height, width)
    return Floats(shape=shape), f"optical flow: two frames of {height}x{width}"


def _vectors(ctx: InputContext) -> tuple[Floats, str]:
    shape = (ctx.settings.batch, ctx.settings.seq_len, int(ctx.config.d_model))
    return Floats(shape=shape), f"inputs: {shape[0]} x {shape[1]} vectors, no preprocessor"


_BY_HEAD: dict[str, Callable[[InputContext], tuple[Any, str]]] = {
    "MaskedLM": _bytes,
    "SequenceClassification": _bytes,
    "ImageClassification": _image,
    "OpticalFlow": _frames,
}

BUILDER = Builder(name="perceiver", applies=applies, build=build)
