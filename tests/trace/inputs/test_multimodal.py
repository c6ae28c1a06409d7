"""Placeholders: exactly as many as the features that the model puts in their place.

The models' own check stays on, so a trace that ends is a proof of the count for the model; the
numbers here are worked out by hand from each config, as the family's processor does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tpu_audit.trace.inputs import multimodal, placeholders
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.feeding import Feeder

IMAGE, VIDEO, AUDIO = 90, 91, 92
SIZES: dict[str, Any] = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_attention_heads": 2,
    "num_hidden_layers": 1,
}
TEXT = {**SIZES, "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 100, "pad_token_id": 0}
LLAMA = {"model_type": "llama", **TEXT}
TOKENS = {"image_token_id": IMAGE, "image_token_index": IMAGE, "video_token_id": VIDEO}
CLIP = {"model_type": "clip_vision_model", **SIZES, "image_size": 32, "patch_size": 8}
SIGLIP = {**CLIP, "model_type": "siglip_vision_model"}
MROPE = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}


def model(
    name: str, model_type: str, text: dict[str, Any], vision: dict[str, Any], **more: Any
) -> Any:
    """Write a composite config."""
    return {
        "architectures": [f"{name}ForConditionalGeneration"],
        "model_type": model_type,
        "text_config": text,
        "vision_config": vision,
        **TOKENS,
        **more,
    }


QWEN_TOWER = {
    "depth": 1,
    "hidden_size": 16,
    "out_hidden_size": 16,
    "intermediate_size": 16,
    "num_heads": 2,
    "patch_size": 14,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
}
FAMILIES: dict[str, tuple[Any, int]] = {
    # one feature a patch of the tower, its class token dropped: (32 / 8)^2
    "llava": (
        model(
            "Llava",
            "llava",
            LLAMA,
            CLIP,
            vision_feature_layer=-1,
            vision_feature_select_strategy="default",
        ),
        16,
    ),
    # a tower that takes any size: (32 / 8)^2, nothing dropped
    "llava, pixtral": (
        model(
            "Llava",
            "llava",
            LLAMA,
            {**CLIP, "model_type": "pixtral", "head_dim": 8},
            vision_feature_layer=-1,
            vision_feature_select_strategy="full",
        ),
        16,
    ),
    # 448 pixels, patches of 14, merged two by two: (32 / 2)^2
    "qwen2_vl": (
        model(
            "Qwen2VL",
            "qwen2_vl",
            {"model_type": "qwen2_vl_text", **TEXT, "rope_parameters": MROPE},
            {**QWEN_TOWER, "model_type": "qwen2_vl_vision", "embed_dim": 16},
        ),
        256,
    ),
    "qwen2_5_vl": (
        model(
            "Qwen2_5_VL",
            "qwen2_5_vl",
            {"model_type": "qwen2_5_vl_text", **TEXT, "rope_parameters": MROPE},
            {**QWEN_TOWER, "model_type": "qwen2_5_vl_vision", "fullatt_block_indexes": [0]},
        ),
        256,
    ),
    # patches of 16: 448 / 16 = 28, merged: 14^2
    "qwen3_vl": (
        model(
            "Qwen3VL",
            "qwen3_vl",
            {"model_type": "qwen3_vl_text", **TEXT, "rope_parameters": MROPE},
            {
                **QWEN_TOWER,
                "model_type": "qwen3_vl_vision",
                "patch_size": 16,
                "num_position_embeddings": 16,
                "deepstack_visual_indexes": [0],
            },
        ),
        196,
    ),
    # pooled to the number in the config
    "gemma3": (
        model(
            "Gemma3",
            "gemma3",
            {"model_type": "gemma3_text", **TEXT},
            SIGLIP,
            mm_tokens_per_image=4,
            boi_token_index=93,
            eoi_token_index=94,
        ),
        4,
    ),
    "paligemma": (
        model(
            "PaliGemma",
            "paligemma",
            {"model_type": "gemma", **TEXT},
            {**SIGLIP, "projection_dim": 16, "vision_use_head": False},
            projection_dim=16,
            hidden_size=16,
        ),
        16,
    ),
    # 4 x 4 patches shuffled two by two
    "idefics3": (
        model(
            "Idefics3",
            "idefics3",
            LLAMA,
            {**SIGLIP, "model_type": "idefics3_vision"},
            scale_factor=2,
        ),
        4,
    ),
    "internvl": (
        model(
            "InternVL",
            "internvl",
            {"model_type": "qwen2", **TEXT},
            {
                **SIZES,
                "model_type": "internvl_vision",
                "image_size": [32, 32],
                "patch_size": [8, 8],
            },
            downsample_ratio=0.5,
            vision_feature_layer=-1,
            image_seq_length=4,
        ),
        4,
    ),
    # 4 x 4 patches shuffled two by two
    "aya_vision": (
        model(
            "AyaVision",
            "aya_vision",
            {"model_type": "cohere2", **TEXT},
            {**SIGLIP, "vision_use_head": False},
            downsample_factor=2,
            vision_feature_layer=-1,
            vision_feature_select_strategy="full",
        ),
        4,
    ),
    # 2 x 2 patches merged: (32 / 8 / 2)^2
    "mistral3": (
        model(
            "Mistral3",
            "mistral3",
            {"model_type": "mistral", **TEXT},
            {**CLIP, "model_type": "pixtral", "head_dim": 8},
            spatial_merge_size=2,
            vision_feature_layer=-1,
        ),
        4,
    ),
    # the overview, 4 x 4; four tiles, 8 x 8 and a newline after each of 8 rows
    "llava_next": (
        model(
            "LlavaNext",
            "llava_next",
            LLAMA,
            CLIP,
            image_grid_pinpoints=[[32, 64], [64, 64]],
            vision_feature_layer=-1,
            vision_feature_select_strategy="default",
        ),
        16 + 64 + 8,
    ),
    # 256 pixels of 16: 16 x 16 patches unshuffled two by two
    "lfm2_vl": (
        model(
            "Lfm2Vl",
            "lfm2_vl",
            {
                "model_type": "lfm2",
                **TEXT,
                "layer_types": ["full_attention"],
                "block_ff_dim": 16,
            },
            {**SIZES, "model_type": "siglip2_vision_model", "patch_size": 16, "num_patches": 256},
            downsample_factor=2,
            projector_hidden_size=16,
        ),
        64,
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_as_many_placeholders_as_features(feed: Feeder, family: str) -> None:
    """The prompt holds the count, the model accepts it, the report says it."""
    config, expected = FAMILIES[family]
    fed = feed(config)

    assert fed.count(IMAGE) == expected
    assert f"{expected} placeholder tokens for each image" in fed.said
    assert "image: 1 x" in fed.said
    assert fed.trace.ops


def test_each_item_of_a_batch_has_its_image(feed: Feeder) -> None:
    """Two items: two images, and the same count in both prompts."""
    config, expected = FAMILIES["qwen2_vl"]
    fed = feed(config, batch=2)

    assert [row.count(IMAGE) for row in fed.kwargs["input_ids"]] == [expected] * 2
    assert fed.kwargs["image_grid_thw"] == [[1, 32, 32]] * 2
    assert [row.count(1) for row in fed.kwargs["mm_token_type_ids"]] == [expected] * 2


@pytest.mark.parametrize("family", ["llava", "qwen2_vl", "gemma3"])
def test_the_models_own_check_is_on(
    feed: Feeder, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One placeholder too few, and the model refuses: a right count is not luck."""
    counted: Callable[..., int] = placeholders.feature_count
    monkeypatch.setattr(multimodal, "feature_count", lambda *args: counted(*args) - 1)

    with pytest.raises(NotAuditedError, match=r"(?i)features and image tokens do not match"):
        feed(FAMILIES[family][0])


def test_text_goes_beside_the_placeholders(feed: Feeder) -> None:
    """``seq_len`` tokens of text, and the image's run of placeholders within them."""
    config, expected = FAMILIES["llava"]
    (row,) = feed(config, seq_len=20).kwargs["input_ids"]

    assert len(row) == 20 + expected
    assert row[1 : 1 + expected] == [IMAGE] * expected


def test_text_gives_way_where_positions_end(feed: Feeder) -> None:
    """With 20 positions and 16 placeholders, 4 tokens of text are left."""
    config, expected = FAMILIES["llava"]
    short = {**config, "text_config": {**LLAMA, "max_position_embeddings": 20}}
    (row,) = feed(short, seq_len=128).kwargs["input_ids"]

    assert len(row) == 20
    assert row.count(IMAGE) == expected


def test_a_config_without_a_placeholder_token_is_not_audited(feed: Feeder) -> None:
    """The failure names the field to set."""
    config = {
        "architectures": ["Blip2ForConditionalGeneration"],
        "model_type": "blip-2",
        "vision_config": {**SIZES, "image_size": 32, "patch_size": 16},
        "qformer_config": {**SIZES, "encoder_hidden_size": 16, "vocab_size": 50},
        "text_config": {"model_type": "opt", **SIZES, "ffn_dim": 16, "vocab_size": 100},
        "num_query_tokens": 3,
    }
    with pytest.raises(NotAuditedError, match="placeholder token") as caught:
        feed(config)

    assert (caught.value.stage, caught.value.code) == (Stage.INPUTS, "no_placeholder_token")
    assert "image_token_id" in str(caught.value.hint)
    fed = feed({**config, "image_token_index": IMAGE})
    assert fed.count(IMAGE) == 3


def test_a_clip_in_the_prompt(feed: Feeder) -> None:
    """Qwen2-Audio: 40 frames, convolved by two and pooled by two, are 10 tokens."""
    fed = feed(
        {
            "architectures": ["Qwen2AudioForConditionalGeneration"],
            "model_type": "qwen2_audio",
            "audio_token_index": AUDIO,
            "audio_config": {
                "model_type": "qwen2_audio_encoder",
                "d_model": 16,
                "encoder_layers": 1,
                "encoder_attention_heads": 2,
                "encoder_ffn_dim": 16,
                "num_mel_bins": 8,
                "max_source_positions": 20,
            },
            "text_config": {"model_type": "qwen2", **TEXT},
        }
    )

    assert fed.kwargs["input_features"] == (1, 8, 40)
    assert fed.count(AUDIO) == 10
    assert "10 placeholder tokens for each audio" in fed.said


def test_a_tower_left_out_is_not_fed(feed: Feeder) -> None:
    """Gemma 4 built without an audio encoder gets its image and no clip."""
    fed = feed(
        model(
            "Gemma4",
            "gemma4",
            {"model_type": "gemma4_text", **TEXT, "hidden_size_per_layer_input": 0},
            {
                "model_type": "gemma4_vision",
                **SIZES,
                "num_key_value_heads": 2,
                "head_dim": 8,
                "patch_size": 16,
                "pooling_kernel_size": 3,
            },
            audio_config=None,
            audio_token_id=AUDIO,
        )
    )

    assert "input_features" not in fed.kwargs
    assert fed.count(IMAGE) == 256


def test_what_is_not_fed_is_said(feed: Feeder) -> None:
    """A model that also takes videos is traced with an image, and the report says so."""
    assert "not fed: videos" in feed(FAMILIES["qwen2_vl"][0]).said
    assert "not fed" not in feed(FAMILIES["llava"][0]).said
