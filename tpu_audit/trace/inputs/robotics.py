"""Robot policies: states, actions and, where the policy sees, its cameras."""

from __future__ import annotations

import torch

from tpu_audit.trace.inputs.fields import find_int
from tpu_audit.trace.inputs.images import pixels
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.placeholders import IMAGE, feature_count, prompt
from tpu_audit.trace.inputs.signature import accepts, is_main, required
from tpu_audit.trace.inputs.sizes import image_size

_STEPS = 20
"""Steps of the past that a decision transformer reads (K in its paper)."""


def applies(ctx: InputContext) -> bool:
    """Tell whether the main input is a robot's state."""
    return is_main(ctx, "states") or is_main(ctx, "state") or "action_embeds" in required(ctx)


def build(ctx: InputContext) -> Inputs:
    """Give a trajectory, or the present state with what the cameras see."""
    return _trajectory(ctx) if accepts(ctx, "states") else _policy(ctx)


def _trajectory(ctx: InputContext) -> Inputs:
    batch, config = ctx.settings.batch, ctx.config
    ones = torch.ones(batch, _STEPS, dtype=torch.int64)
    return Inputs(
        kwargs={
            "states": Floats(shape=(batch, _STEPS, config.state_dim)),
            "actions": Floats(shape=(batch, _STEPS, config.act_dim)),
            "rewards": Floats(shape=(batch, _STEPS, 1)),
            "returns_to_go": Floats(shape=(batch, _STEPS, 1)),
            "timesteps": torch.arange(_STEPS).expand(batch, -1).contiguous(),
            "attention_mask": ones,
        },
        assumptions=[f"robotics: {batch} trajectories of {_STEPS} steps"],
    )


def _policy(ctx: InputContext) -> Inputs:
    batch, config = ctx.settings.batch, ctx.config
    size = image_size(ctx)
    count = feature_count(ctx, IMAGE, {"pixel_values": pixels(ctx, size)})
    kwargs, said = prompt(ctx, {IMAGE: count})
    kwargs["pixel_values"] = pixels(ctx, size, 1)
    kwargs["pixel_attention_mask"] = torch.ones(batch, 1, dtype=torch.bool)
    chunk = find_int(config, "chunk_size", default=_STEPS)
    if accepts(ctx, "state"):
        actions = (batch, chunk, config.max_action_dim)
        kwargs["state"] = Floats(shape=(batch, config.max_state_dim))
        kwargs["noise"] = Floats(shape=actions)
        kwargs["timestep"] = Floats(shape=(batch,))
    else:
        width = find_int(config.dit_config, "hidden_size", default=1)
        kwargs["action_embeds"] = Floats(shape=(batch, chunk + 1, width))
    said.append(f"robotics: {batch} x a chunk of {chunk} actions")
    said.append(f"one camera: {size}, {count} placeholder tokens")
    return Inputs(kwargs=kwargs, assumptions=said)


BUILDER = Builder(name="robotics", applies=applies, build=build)
