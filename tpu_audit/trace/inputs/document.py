"""Document layout models: words with their boxes on the page."""

from __future__ import annotations

import torch

from tpu_audit.trace.inputs import text, vision
from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts

_BOX = (10, 20, 300, 40)
"""Left, top, right, bottom on the usual 0..1000 grid."""


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes words and boxes."""
    return accepts(ctx, "input_ids", "bbox")


def build(ctx: InputContext) -> Inputs:
    """Give each token a box, and the page image where the model looks at it."""
    words = text.build(ctx)
    ids = words.kwargs["input_ids"]
    words.kwargs["bbox"] = torch.tensor(_BOX).expand(*ids.shape, len(_BOX)).contiguous()
    words.assumptions.append("document: every token has a box on the page")
    if accepts(ctx, "pixel_values"):
        page = vision.build(ctx)
        words.kwargs.update(page.kwargs)
        words.assumptions.extend(page.assumptions)
    return words


BUILDER = Builder(name="document", applies=applies, build=build)
