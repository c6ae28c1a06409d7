"""Trackers of objects in videos: a session, with a click on the one object of its first frame."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import torch

from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs, Late
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import ImageSize, channels, image_size

_OBJECT = 1


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes a session and a frame."""
    return accepts(ctx, "inference_session", "frame") and _kind(ctx) is not None


def _kind(ctx: InputContext) -> Any:
    """Return the class of sessions, as the annotation names it, if it takes clicks."""
    kind: Any = ctx.parameters["inference_session"].annotation
    if isinstance(kind, str):
        kind = getattr(sys.modules[type(ctx.model).__module__], kind, None)
    return kind if hasattr(kind, "add_point_inputs") else None


def build(ctx: InputContext) -> Inputs:
    """Give a streamed frame, as the first of its session."""
    kind, size = _kind(ctx), image_size(ctx)
    frame = Floats(shape=(1, channels(ctx.config), size.height, size.width))
    return Inputs(
        kwargs={"inference_session": Late(make=partial(_session, kind, size)), "frame": frame},
        assumptions=[f"video: the first frame of {size}, with a click on one object"],
    )


def _session(kind: Any, size: ImageSize, dtype: torch.dtype, device: str) -> Any:
    places = ("inference_device", "inference_state_device", "video_storage_device")
    session = kind(
        video_height=size.height,
        video_width=size.width,
        dtype=dtype,
        **dict.fromkeys(places, device),
    )
    click = {
        "point_coords": torch.full((1, 1, 1, 2), size.height / 2),
        "point_labels": torch.ones(1, 1, 1, dtype=torch.int32),
    }
    session.add_point_inputs(session.obj_id_to_idx(_OBJECT), 0, click)
    session.obj_with_new_inputs = [_OBJECT]
    return session


BUILDER = Builder(name="video session", applies=applies, build=build)
