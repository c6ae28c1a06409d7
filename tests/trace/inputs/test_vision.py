"""Inputs of image and video models: sizes from the processor or the config, masks, layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.feeding import Feeder

TINY = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_attention_heads": 2,
    "num_hidden_layers": 1,
}
VIT: dict[str, Any] = {
    "architectures": ["ViTForImageClassification"],
    "model_type": "vit",
    "image_size": 32,
    "patch_size": 8,
    **TINY,
}
RESNET: dict[str, Any] = {
    "architectures": ["ResNetForImageClassification"],
    "model_type": "resnet",
    "embedding_size": 8,
    "hidden_sizes": [8, 8],
    "depths": [1, 1],
    "layer_type": "basic",
}


def test_the_config_names_the_size(feed: Feeder) -> None:
    """Without a processor the config's image size and channels are used, and said."""
    fed = feed({**VIT, "num_channels": 4}, batch=3)

    assert fed.kwargs["pixel_values"] == (3, 4, 32, 32)
    assert "3 x 32x32 (config)" in fed.said


@pytest.mark.parametrize(
    ("processor", "size"),
    [
        ({"size": 48}, (48, 48)),
        ({"size": {"height": 48, "width": 64}}, (48, 64)),
        ({"size": {"shortest_edge": 64}, "crop_size": 56, "do_center_crop": True}, (56, 56)),
        ({"size": {"shortest_edge": 64}, "crop_size": 56, "do_center_crop": False}, (64, 64)),
        ({"size": {"shortest_edge": 480, "longest_edge": 960}}, (480, 640)),
    ],
)
def test_the_processor_names_the_size(
    feed: Feeder, processor: Mapping[str, Any], size: tuple[int, int]
) -> None:
    """Every spelling of a processor's size is read; a crop counts only where it is done."""
    fed = feed(RESNET, processors={"preprocessor_config.json": processor})

    assert fed.kwargs["pixel_values"] == (1, 3, *size)
    assert f"{size[0]}x{size[1]} (image processor)" in fed.said


def test_a_model_that_checks_sizes_gets_its_own(feed: Feeder) -> None:
    """ViT refuses another size than its config's, whatever a processor file says."""
    fed = feed(VIT, processors={"preprocessor_config.json": {"size": 64}})

    assert fed.kwargs["pixel_values"] == (1, 3, 32, 32)


def test_a_size_that_nothing_names_is_said_to_be_assumed(feed: Feeder) -> None:
    """A convolutional network without a processor gets the usual 224, marked as assumed."""
    fed = feed(RESNET)

    assert fed.kwargs["pixel_values"] == (1, 3, 224, 224)
    assert "assumed" in fed.said


def test_a_detector_gets_a_mask_over_pixels(feed: Feeder) -> None:
    """The mask has the size of the image, and its backbone's training size is not taken."""
    fed = feed(
        {
            "architectures": ["RTDetrForObjectDetection"],
            "model_type": "rt_detr",
            "num_queries": 8,
            "d_model": 16,
            "encoder_hidden_dim": 16,
            "decoder_in_channels": [16, 16, 16],
            "encoder_ffn_dim": 16,
            "decoder_ffn_dim": 16,
            "encoder_attention_heads": 2,
            "decoder_attention_heads": 2,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "encoder_in_channels": [8, 8, 8],
            "backbone_config": {
                "model_type": "rt_detr_resnet",
                "embedding_size": 8,
                "hidden_sizes": [8, 8, 8, 8],
                "depths": [1, 1, 1, 1],
                "layer_type": "basic",
                "out_features": ["stage2", "stage3", "stage4"],
            },
        },
        processors={"preprocessor_config.json": {"size": {"height": 64, "width": 96}}},
    )

    assert fed.kwargs["pixel_values"] == (1, 3, 64, 96)
    (mask,) = fed.kwargs["pixel_mask"]
    assert (len(mask), len(mask[0])) == (64, 96)


def test_a_video_has_the_frames_of_its_config(feed: Feeder) -> None:
    """Clips are (batch, frames, channels, height, width)."""
    fed = feed(
        {
            "architectures": ["VideoMAEForVideoClassification"],
            "model_type": "videomae",
            "image_size": 32,
            "patch_size": 16,
            "num_frames": 4,
            "tubelet_size": 2,
            **TINY,
        }
    )

    assert fed.kwargs["pixel_values"] == (1, 4, 3, 32, 32)
    assert "1 x 4 frames of 32x32" in fed.said


def test_an_image_encoder_gets_packed_patches(feed: Feeder) -> None:
    """Qwen3-VL's tower alone takes rows of two frames' patches, and their grid."""
    fed = feed(
        {
            "model_type": "qwen3_vl_vision",
            "architectures": ["Qwen3VLVisionModel"],
            "depth": 1,
            "hidden_size": 16,
            "intermediate_size": 16,
            "out_hidden_size": 16,
            "num_heads": 2,
            "num_position_embeddings": 16,
            "deepstack_visual_indexes": [],
            "patch_size": 14,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
        }
    )

    assert fed.kwargs["grid_thw"] == [[1, 32, 32]]
    assert fed.kwargs["hidden_states"] == (1024, 3 * 2 * 14 * 14)


def test_matchers_get_pairs(feed: Feeder) -> None:
    """A keypoint matcher compares two images an item."""
    fed = feed({"architectures": ["SuperGlueForKeypointMatching"], "model_type": "superglue"})

    assert fed.kwargs["pixel_values"] == (1, 2, 3, 480, 640)
    assert "pairs" in fed.said
