"""Configs that are not those of the published checkpoint, and what makes them so.

Some public copies of a config were changed by those who published them, or are of another
revision or size. The changed fields are put back here: then the count must be the published one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """What to put back, and a sentence on it."""

    changes: Mapping[str, Any]
    why: str


VARIANTS: Mapping[str, Variant] = {
    "Qwen/Qwen3-VL-235B-A22B-Thinking": Variant(
        changes={"vision_config": {"patch_size": 16}},
        why="this copy says vision patches of 14, the model has 16, as its sisters' configs do",
    ),
    "deepseek-ai/DeepSeek-V3-0324": Variant(
        changes={"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}},
        why="this copy left out that the checkpoint is FP8, as DeepSeek-V3's own config says",
    ),
    "facebook/opt-1.3b": Variant(
        changes={"hidden_size": 2048, "d_model": None},
        why="early config: its `d_model` 2048 is a field that OPTConfig does not read",
    ),
    "google/gemma-3-4b-it": Variant(
        changes={
            "text_config": {
                "head_dim": 256,
                "hidden_size": 2560,
                "intermediate_size": 10240,
                "num_attention_heads": 8,
                "num_hidden_layers": 34,
                "num_key_value_heads": 4,
            }
        },
        why="this file holds the config of gemma-3-27b-it; with the 4B model's sizes",
    ),
    "google/gemma-4-26B-A4B-it": Variant(
        changes={
            "text_config": {"attention_k_eq_v": True, "num_global_key_value_heads": 2},
            "vision_config": {"head_dim": 72, "num_key_value_heads": 16, "standardize": True},
        },
        why="this copy left out fields that gemma-4-26B-A4B's own config has",
    ),
    "google/gemma-4-E2B-it": Variant(
        changes={
            "text_config": {
                "layer_types": [*["sliding_attention"] * 4, "full_attention"] * 7,
                "use_double_wide_mlp": True,
            }
        },
        why="this copy left out `layer_types` (every fifth is full) and `use_double_wide_mlp`",
    ),
    "ibm-granite/granite-4.0-h-tiny": Variant(
        changes={"num_local_experts": 64, "vocab_size": 100352},
        why="this copy has 62 experts and 49,160 tokens, the published model 64 and 100,352",
    ),
    "microsoft/Florence-2-large": Variant(
        changes={"vision_config": {"embed_dim": [256, 512, 1024, 2048]}},
        why="this copy names another vision tower (swinv2); with the widths of the original's",
    ),
}
