"""Inputs of the rarer modalities, and of models that no builder serves."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from torch import nn

from tpu_audit.trace.inputs import build_inputs
from tpu_audit.trace.inputs.interface import InputContext
from tpu_audit.types.errors import NotAuditedError, Stage
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import TraceSettings

if TYPE_CHECKING:
    from tests.support.feeding import Feeder

TINY: dict[str, Any] = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_attention_heads": 2,
    "num_hidden_layers": 1,
}


def test_documents_get_boxes_and_the_page(feed: Feeder) -> None:
    """Every token has a box, and LayoutLMv3 sees the page image of its config's size."""
    fed = feed(
        {
            "architectures": ["LayoutLMv3Model"],
            "model_type": "layoutlmv3",
            **TINY,
            "vocab_size": 60,
            "coordinate_size": 3,
            "shape_size": 2,
            "input_size": 32,
            "patch_size": 16,
            "max_position_embeddings": 64,
        }
    )

    boxes = fed.kwargs["bbox"][0]
    assert len(boxes) == len(fed.kwargs["input_ids"][0])
    assert all(0 <= edge <= 1000 for edge in boxes[0])
    assert fed.kwargs["pixel_values"] == (1, 3, 32, 32)
    assert "box on the page" in fed.said


def test_towers_are_fed_in_pairs(feed: Feeder) -> None:
    """CLIP compares as many texts as images."""
    fed = feed(
        {
            "architectures": ["CLIPModel"],
            "model_type": "clip",
            "projection_dim": 8,
            "text_config": {**TINY, "vocab_size": 60, "max_position_embeddings": 10},
            "vision_config": {**TINY, "image_size": 32, "patch_size": 16},
        },
        batch=2,
    )

    assert [len(row) for row in fed.kwargs["input_ids"]] == [10, 10]
    assert fed.kwargs["pixel_values"] == (2, 3, 32, 32)


def test_a_captioner_is_fed_both_though_neither_is_required(feed: Feeder) -> None:
    """GIT would run on text alone: half of the model would go unseen."""
    fed = feed(
        {
            "architectures": ["GitForCausalLM"],
            "model_type": "git",
            **TINY,
            "vocab_size": 60,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "vision_config": {**TINY, "image_size": 32, "patch_size": 16},
        }
    )

    assert {"input_ids", "pixel_values"} <= set(fed.kwargs)


def test_a_window_of_past_values_has_its_lags(feed: Feeder) -> None:
    """The past reaches back by the largest lag; covariates are as many as the config counts."""
    fed = feed(
        {
            "architectures": ["TimeSeriesTransformerModel"],
            "model_type": "time_series_transformer",
            "prediction_length": 4,
            "context_length": 8,
            "lags_sequence": [1, 5],
            "num_time_features": 2,
            "d_model": 8,
            "encoder_layers": 1,
            "decoder_layers": 1,
        }
    )

    assert fed.kwargs["past_values"] == (1, 13)
    assert fed.kwargs["past_time_features"] == (1, 13, 2)
    assert fed.kwargs["future_values"] == (1, 4)
    assert "windows of 13 steps" in fed.said


def test_a_trajectory(feed: Feeder) -> None:
    """A decision transformer reads states, actions, rewards and what is left to gain."""
    fed = feed(
        {
            "architectures": ["DecisionTransformerModel"],
            "model_type": "decision_transformer",
            "state_dim": 5,
            "act_dim": 3,
            "hidden_size": 16,
            "n_layer": 1,
            "n_head": 2,
        }
    )

    assert fed.kwargs["states"] == (1, 20, 5)
    assert fed.kwargs["actions"] == (1, 20, 3)
    assert "trajectories of 20 steps" in fed.said


def test_a_part_of_a_model_gets_states(feed: Feeder) -> None:
    """A Q-Former alone is fed queries and the states of an image encoder."""
    fed = feed(
        {
            "architectures": ["Blip2QFormerModel"],
            "model_type": "blip_2_qformer",
            **TINY,
            "encoder_hidden_size": 24,
        }
    )

    assert fed.kwargs["query_embeds"] == (1, 64, 16)
    assert fed.kwargs["encoder_hidden_states"] == (1, 64, 24)


def test_perceiver_is_fed_by_its_head(feed: Feeder) -> None:
    """Without a preprocessor, ``inputs`` are vectors of the model's width."""
    fed = feed(
        {
            "architectures": ["PerceiverModel"],
            "model_type": "perceiver",
            "d_model": 16,
            "num_latents": 4,
            "d_latents": 8,
            "num_blocks": 1,
            "num_self_attends_per_block": 1,
            "num_self_attention_heads": 2,
            "num_cross_attention_heads": 2,
        }
    )

    assert fed.kwargs["inputs"] == (1, 16, 16)


def test_cross_attention_masks_follow_the_prompt(feed: Feeder) -> None:
    """Mllama attends from every token to every tile."""
    fed = feed(
        {
            "architectures": ["MllamaForConditionalGeneration"],
            "model_type": "mllama",
            "vision_config": {
                "model_type": "mllama_vision_model",
                "hidden_size": 16,
                "intermediate_size": 16,
                "attention_heads": 2,
                "num_hidden_layers": 1,
                "num_global_layers": 1,
                "intermediate_layers_indices": [0],
                "image_size": 32,
                "patch_size": 16,
                "vision_output_dim": 32,
                "max_num_tiles": 4,
            },
            "text_config": {
                "model_type": "mllama_text_model",
                **TINY,
                "num_key_value_heads": 2,
                "num_hidden_layers": 2,
                "cross_attention_layers": [1],
                "vocab_size": 60,
                "pad_token_id": 0,
            },
        }
    )

    mask = fed.kwargs["cross_attention_mask"][0]
    assert (len(mask), len(mask[0]), len(mask[0][0])) == (16, 1, 4)
    assert fed.kwargs["pixel_values"] == (1, 1, 4, 3, 32, 32)


class _Odd(nn.Module):
    """A model with an argument that nothing is known about."""

    def forward(self, odd_thing: Any) -> Any:
        """Give it back."""
        return odd_thing


class _HalfKnown(nn.Module):
    """A text model that needs one thing more."""

    def forward(self, input_ids: Any, odd_thing: Any) -> Any:
        """Give both back."""
        return input_ids, odd_thing


@pytest.mark.parametrize("model", [_Odd(), _HalfKnown()])
def test_what_cannot_be_fed_is_not_audited(model: nn.Module) -> None:
    """The failure has its stage and code, and names the argument."""
    spec = ModelSpec(target="t", id="t", revision=None, config_source="local", config={})
    config = SimpleNamespace(model_type="odd", vocab_size=50)
    ctx = InputContext(model=model, config=config, spec=spec, settings=TraceSettings())

    assert "odd_thing" in inspect.signature(model.forward).parameters
    with pytest.raises(NotAuditedError, match="odd_thing") as caught:
        build_inputs(ctx)
    assert (caught.value.stage, caught.value.code) == (Stage.INPUTS, "unknown_inputs")
