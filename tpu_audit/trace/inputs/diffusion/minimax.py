"""MiniMax-H3: one packed sequence of text, video and sound, with the rows of each named."""

from __future__ import annotations

import math
from typing import Any

import torch

from tpu_audit.trace.inputs.diffusion.sizes import number, step
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs

_TEXT, _VIDEO, _AUDIO = 512, (21, 30, 52), 126
"""Rows of the three: tokens, patches of a video by frame, height and width, latents of sound."""


def build(ctx: InputContext) -> Inputs:
    """Give one denoising step of a video with sound."""
    config = ctx.config
    video = math.prod(_VIDEO)
    rows = _TEXT + video + _AUDIO
    text_rows, video_rows, audio_rows = torch.arange(rows).split([_TEXT, video, _AUDIO])
    tags = torch.cat(
        [torch.full_like(text_rows, 1), video_rows * 0, torch.full_like(audio_rows, 2)]
    )
    grid = torch.cartesian_prod(*map(torch.arange, _VIDEO))
    line = torch.arange(_TEXT)[:, None].expand(-1, 3)
    sound = torch.arange(_AUDIO)[:, None].expand(-1, 3)
    patch = math.prod(config.get("patch_size") or (1, 2, 2)) * number(config, "in_channels", 24)
    kwargs: dict[str, Any] = {
        "hidden_states": Floats(shape=(1, video, patch)),
        "audio_hidden_states": Floats(shape=(1, _AUDIO, number(config, "audio_in_channels", 32))),
        "encoder_hidden_states": Floats(shape=(1, _TEXT, number(config, "text_dim", 5120))),
        "timestep": step(ctx, 1.0)[:1],
        "timestep_indices": torch.zeros(rows, dtype=torch.int64),
        "token_tags": tags,
        "position_ids": torch.cat([line, grid, sound]),
        "video_indices": video_rows,
        "audio_indices": audio_rows,
        "text_indices": text_rows,
    }
    words = f"one packed sequence: text {_TEXT}, video {video}, sound {_AUDIO} rows"
    return Inputs(kwargs=kwargs, assumptions=[words])


CLASSES = {"MiniMaxH3Transformer3DModel": build}
