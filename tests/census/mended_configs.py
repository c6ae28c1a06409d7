"""Fields that the library's own default configs leave out or contradict, with the reason of each.

No public config of these types is at hand; published ones have these fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Mend:
    """Fields to put into the default config, nested as it is."""

    why: str
    fields: Mapping[str, Any]


def _mend(why: str, **fields: Any) -> Mend:
    return Mend(why=why, fields=fields)


_HORIZON = _mend("asks for the length to predict", prediction_length=8, context_length=16)
_TOKENS = _mend(
    "asks for the names of image tokens in the vocabulary",
    image_token_id=4,
    vocabulary_map={"<image>": 4, "IMGIMGBZ": 5, "<|visual token 000000|>": 6, "<|extra_200|>": 7},
)
_HEAD_128 = _mend("heads times their size is not the width", head_dim=128)
_THETA = {"rope_type": "default", "rope_theta": 10000.0}
_ROUTED = {"num_experts_per_tok": 6, "n_group": 1, "topk_group": 1}
_QFORMER = _mend(
    "projector and encoder differ in width", projector_config={"encoder_hidden_size": 1024}
)

_INDEXER = {
    "indexer_n_heads": 4,
    "indexer_kv_heads": 1,
    "indexer_head_dim": 256,
    "indexer_budget": 2048,
    "indexer_compress_ratio": 4,
    "ple_layer_ids": [1],
    "ple_embed_dim": 64,
}

_QWEN_05B = {
    "hidden_size": 896,
    "intermediate_size": 4864,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "rope_parameters": _THETA,
}

_EXPERTS = {"num_experts": 128, "top_k_experts": 8, "moe_intermediate_size": 704}

_AROUND = {"vision_start_token_id": 151652, "audio_start_token_id": 151669}

_NO_REPVIT = "its encoder is not the one whose widths it names"
_REPVIT = {
    "backbone_config": {
        "model_type": "timm_wrapper",
        "architecture": "repvit_m1",
        "model_args": {"in_chans": 3, "features_only": True, "out_indices": [0, 1, 2, 3]},
    }
}

MENDS: Mapping[str, Mend] = {
    "aria": _mend(
        "its projector knows images of 490 and 980 pixels only",
        vision_config={"image_size": 490, "patch_size": 14},
    ),
    "autoformer": _HORIZON,
    "aya_vision": _mend(
        "neither heads divide the width nor pairs of patches the image",
        vision_config={"num_attention_heads": 16, "image_size": 364},
    ),
    "bamba": _mend("names no attention layer", attn_layer_indices=[1, 9, 18, 27]),
    "blt": _mend("its cache asks for it", num_hidden_layers=24),
    "chameleon": _TOKENS,
    "cohere_compass": _mend(
        "names no rotary base of its layers",
        text_config={"rope_parameters": {"full_attention": _THETA}},
    ),
    "cohere_compass_text": _mend(
        "names no rotary base of its layers", rope_parameters={"full_attention": _THETA}
    ),
    "dbrx": _mend(
        "names neither rotary base nor clipping",
        attn_config={"rope_theta": 10000.0, "clip_qkv": 8},
    ),
    "colmodernvbert": _mend(
        "four patches do not divide the image",
        vlm_config={"vision_config": {"image_size": 512, "patch_size": 16}},
    ),
    "deepseek_ocr2": _mend(
        "names neither the rotary base of its encoder nor the experts of a token",
        text_config={**_ROUTED, "mlp_layer_types": ["dense"] + ["sparse"] * 31},
        vision_config={"encoder_config": _QWEN_05B},
    ),
    "deepseek_v2": _mend("names no experts of a token", **_ROUTED),
    "diffusion_gemma": _mend("names no experts", text_config=_EXPERTS),
    "dots1": _mend(
        "names no experts", n_routed_experts=128, n_shared_experts=2, num_experts_per_tok=6
    ),
    "edgetam": _mend(_NO_REPVIT, vision_config=_REPVIT),
    "edgetam_vision_model": _mend(_NO_REPVIT, **_REPVIT),
    "emu3": _TOKENS,
    "esm": _mend("names no vocabulary", vocab_size=33, pad_token_id=1, mask_token_id=32),
    "glm46v": _mend(
        "rotary sections are of half the heads",
        text_config={
            "rope_parameters": {
                **_THETA,
                "partial_rotary_factor": 0.5,
                "mrope_section": [8, 12, 12],
            }
        },
    ),
    "glm4v_moe": _mend("heads do not divide the width", text_config={"head_dim": 128}),
    "glm4v_moe_text": _HEAD_128,
    "granite4_vision": _mend(
        "names neither its downsampling nor its layers",
        vision_config={"image_size": 384, "patch_size": 16},
        image_grid_pinpoints=[[384, 768], [768, 384], [768, 768]],
        downsample_rate="4/8",
        deepstack_layer_map=[[-2, 0]],
        spatial_target_layers=[0],
    ),
    "granite_speech": _QFORMER,
    "granite_speech_plus": _QFORMER,
    "granitemoehybrid": _mend(
        "names no attention layer", layer_types=(["mamba"] * 3 + ["attention"]) * 8
    ),
    "hunyuan_v1_dense": _HEAD_128,
    "hunyuan_v1_moe": _HEAD_128,
    "hunyuan_vl": _mend(
        "names no rotary base",
        text_config={
            "head_dim": 128,
            "rope_parameters": {**_THETA, "mrope_section": [16, 16, 16, 16]},
        },
    ),
    "hunyuan_vl_text": _mend(
        "names no rotary base",
        head_dim=128,
        rope_parameters={**_THETA, "mrope_section": [16, 16, 16, 16]},
    ),
    "informer": _HORIZON,
    "lfm2_moe": _mend("names no kinds of layers", layer_types=["conv", "full_attention"] * 16),
    "lw_detr": _mend(
        "names no scale of its features",
        projector_scale_factors=[1.0],
        num_feature_levels=1,
    ),
    "ministral": _HEAD_128,
    "moonshine_streaming": _mend("its cache asks for it", num_key_value_heads=8),
    "nemotron": _mend(
        "names neither rotary share nor heads of keys",
        num_key_value_heads=48,
        partial_rotary_factor=0.5,
    ),
    "perception_lm": _mend(
        "names no width of its encoder",
        vision_config={
            "architecture": "vit_pe_core_large_patch14_336",
            "model_args": {"embed_dim": 1024},
        },
    ),
    "pp_doclayout_v2": _mend(
        "names no thresholds and no order of classes",
        class_thresholds=[0.5] * 25,
        class_order=list(range(25)),
    ),
    "qwen2_5_omni_thinker": _mend("names no tokens around images and sounds", **_AROUND),
    "qwen3_asr": _mend(
        "sound features are not as wide as the text", audio_config={"output_dim": 2048}
    ),
    "qwen3_omni_moe": _mend(
        "asks for tokens around images and sounds, and for sizes of its talker",
        thinker_config=_AROUND,
        talker_config={
            "spatial_merge_size": 2,
            "text_config": {"shared_expert_intermediate_size": 768},
        },
    ),
    "qwen3_omni_moe_thinker": _mend("names no tokens around images and sounds", **_AROUND),
    "qwen4_exp": _mend("names no sizes of its indexer", text_config=_INDEXER),
    "qwen4_exp_text": _mend("names no sizes of its indexer", **_INDEXER),
    "reformer": _mend("its main head is a decoder", is_decoder=True),
    "sapiens2": _mend(
        "names no layers of its head",
        head_config={"upsample_out_channels": [768, 768], "conv_out_channels": [768, 768]},
    ),
    "t5gemma2_encoder": _mend(
        "its text part asks for it, and its image is smaller than its patches pooled",
        text_config={"dropout_rate": 0.0},
        vision_config={"image_size": 896, "patch_size": 14},
    ),
    "timm_backbone": _mend("names no model", backbone="resnet18"),
    "time_series_transformer": _HORIZON,
    "ultravbert": _mend(
        "four patches do not divide the image",
        vision_config={"image_size": 512, "patch_size": 16},
    ),
    "vitmatte": _mend(
        "its encoder is wider than its decoder takes",
        backbone_config={"hidden_size": 384, "num_attention_heads": 6, "num_channels": 4},
    ),
}


def mend(model_type: str, content: dict[str, Any]) -> dict[str, Any]:
    """Return ``content`` with the fields that are known to be needed."""
    found = MENDS.get(model_type)
    return content if found is None else _merged(content, found.fields)


def _merged(content: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(content)
    for name, value in fields.items():
        before = merged.get(name)
        nested = isinstance(value, Mapping) and isinstance(before, Mapping)
        merged[name] = _merged(before, value) if nested else value  # type: ignore[arg-type]
    return merged
