"""How long the prompts are that pipelines give their text encoders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.trace.inputs.diffusion.sizes import sibling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tpu_audit.trace.inputs.interface import InputContext

_LENGTHS: Mapping[str, int] = {
    "Flux": 512,
    "Chroma": 512,
    "SD3Transformer": 256,
    "Wan": 512,
    "QwenImage": 512,
    "ZImage": 512,
    "CogVideoX": 226,
    "HunyuanDiT": 256,
    "HunyuanVideo": 256,
    "EasyAnimate": 256,
    "LTX2": 1024,
    "LTXVideo": 128,
    "Lumina2": 256,
    "Mochi": 256,
    "PixArt": 300,
    "Sana": 300,
    "StableAudioDiT": 128,
    "UNet": 77,
}
"""How a denoiser's class begins -> ``max_sequence_length`` of its pipelines, by default. CLIP
encoders read 77 of them: their own positions end there."""


def padded_length(ctx: InputContext) -> int | None:
    """Return the tokens of a prompt in the pipeline that the model is a component of."""
    if ctx.spec.component is None:
        return None
    return next((n for prefix, n in _LENGTHS.items() if sibling(ctx, prefix)), None)
