"""Autoencoders: what inference runs of them is the decoding of latents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpu_audit.trace.inputs.diffusion import cogvideox, wan
from tpu_audit.trace.inputs.diffusion.sizes import number, pair, sibling, vae_scale
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs
from tpu_audit.trace.inputs.signature import needed

if TYPE_CHECKING:
    from collections.abc import Callable

_SIDE = 64
"""Latents a side where neither the config nor a neighbour names a size."""
_AUDIO = {"AutoencoderOobleck": 1024, "AutoencoderKLMiniMaxH3Audio": 126}
"""Classes that decode sound -> latents of it: 47 seconds, 5 seconds."""
_VIDEO: dict[str, tuple[int, int, int]] = {
    "AutoencoderKLWan": (wan.FRAMES, wan.HEIGHT, wan.WIDTH),
    "AutoencoderKLQwenImage": (1, 128, 128),
    "AutoencoderKLMiniMaxH3": (5, 30, 52),
    "AutoencoderKLLTXVideo": (16, 16, 24),
    "AutoencoderKLLTX2Video": (16, 16, 24),
    "AutoencoderKLHunyuanVideo": (33, 90, 160),
    "AutoencoderKLMochi": (4, 60, 106),
    "AutoencoderKLMagvit": (13, 48, 48),
}
"""Classes that decode videos -> frames, height and width of the latents by default."""
_ARGUMENTS = {
    "AutoencoderTiny": "x",
    "VQModel": "h",
    "AutoencoderKLMiniMaxH3Audio": "latents",
}
"""What ``decode`` calls its latents where that is not ``z``; older releases hide it."""
_CHANNELS = ("latent_channels", "z_dim", "decoder_input_channels", "vq_embed_dim")


def build_image(ctx: InputContext) -> Inputs:
    """Give the latents of ``batch`` images to decode."""
    channels, (height, width) = _channels(ctx), _image_latents(ctx)
    return _decode(ctx, (channels, height, width))


def build_video(ctx: InputContext) -> Inputs:
    """Give the latents of a video to decode."""
    return _decode(ctx, (_channels(ctx), *_VIDEO[type(ctx.model).__name__]))


def build_cogvideox(ctx: InputContext) -> Inputs:
    """Give the latents of a video of the length that the transformer beside it makes."""
    config = sibling(ctx, "CogVideoXTransformer3D") or {}
    return _decode(ctx, (_channels(ctx), cogvideox.latent_frames(config), *cogvideox.size(config)))


def build_audio(ctx: InputContext) -> Inputs:
    """Give the latents of a sound to decode."""
    channels = number(ctx.config, "decoder_input_channels", 0) or _channels(ctx)
    return _decode(ctx, (channels, _AUDIO[type(ctx.model).__name__]))


def build_temporal(ctx: InputContext) -> Inputs:
    """Give the latents of a few frames, which are decoded as a batch of images."""
    inputs = build_image(ctx)
    inputs.kwargs["num_frames"] = ctx.settings.batch
    return inputs


def like(ctx: InputContext) -> Callable[[InputContext], Inputs] | None:
    """Return how to feed an autoencoder of images that the table does not name."""
    decode: Any = getattr(ctx.model, "decode", None)
    named = type(ctx.model).__name__.startswith("Autoencoder") and callable(decode)
    return build_image if named and needed(decode) == {"z"} else None


def _decode(ctx: InputContext, latent: tuple[int, ...]) -> Inputs:
    name = type(ctx.model).__name__
    return Inputs(
        kwargs={_ARGUMENTS.get(name, "z"): Floats(shape=(ctx.settings.batch, *latent))},
        assumptions=[f"decodes latents {'x'.join(map(str, latent))}; encoding was not traced"],
        method="decode",
    )


def _channels(ctx: InputContext) -> int:
    return next((n for name in _CHANNELS if (n := number(ctx.config, name, 0))), 4)


def _image_latents(ctx: InputContext) -> tuple[int, int]:
    """Return the size that the pipeline's denoiser makes, else the config's own."""
    for prefix in ("UNet", "SD3Transformer", "HunyuanDiT", "PixArt", "Sana"):
        denoiser = sibling(ctx, prefix)
        if denoiser and denoiser.get("sample_size"):
            return pair(denoiser["sample_size"], (_SIDE, _SIDE))
    if any(sibling(ctx, prefix) for prefix in ("Flux", "Chroma", "ZImage")):
        return 128, 128  # their pipelines' default: 1024 pixels
    height, width = pair(ctx.config.get("sample_size"), (0, 0))
    scale = vae_scale(ctx.config)
    return (height // scale, width // scale) if height >= scale else (_SIDE, _SIDE)


_IMAGE = ("AutoencoderKL", "AutoencoderKLFlux2", "AutoencoderTiny", "AutoencoderDC", "VQModel")

CLASSES: dict[str, Callable[[InputContext], Inputs]] = {
    **dict.fromkeys(_IMAGE, build_image),
    **dict.fromkeys(_VIDEO, build_video),
    **dict.fromkeys(_AUDIO, build_audio),
    "AutoencoderKLCogVideoX": build_cogvideox,
    "AutoencoderKLTemporalDecoder": build_temporal,
}
