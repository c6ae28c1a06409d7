"""``_transform_bias_rescale_qkv``: queries, keys and values out of one projection."""

from __future__ import annotations

import math

import torch

from op_registry.reference.declare import kernel


@kernel(
    "aten._transform_bias_rescale_qkv.default",
    source="definition",
    accuracy="rounding of a product",
)
def transform_bias_rescale_qkv(
    qkv: torch.Tensor, qkv_bias: torch.Tensor, num_heads: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return queries, keys and values (batch, heads, tokens, width of a head), bias added.

    ``qkv`` is (batch, tokens, 3 * heads * width); queries are divided by the root of the width.
    """
    width = qkv.shape[2] // 3
    if width % num_heads:
        raise RuntimeError(f"width {width} is no multiple of {num_heads} heads")
    joint = (qkv + qkv_bias).reshape(qkv.shape[0], qkv.shape[1], 3, num_heads, width // num_heads)
    query, key, value = joint.permute(2, 0, 3, 1, 4).unbind(0)
    return query * (1 / math.sqrt(width // num_heads)), key, value
