"""Models of two models: one encodes, the other decodes, or both embed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.libraries import component, ops, trace

if TYPE_CHECKING:
    from op_registry.schema import Snapshot

_SMALL = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4}
_DECODES = {"is_decoder": True, "add_cross_attention": True}
VIT = {"model_type": "vit", **_SMALL, "num_hidden_layers": 1, "image_size": 32, "patch_size": 8}
BERT = {"model_type": "bert", **_SMALL, "num_hidden_layers": 1, "vocab_size": 128}
GPT2 = {"model_type": "gpt2", "n_embd": 32, "n_layer": 1, "n_head": 4, "vocab_size": 128}
MBART = {
    "model_type": "mbart",
    "d_model": 32,
    "decoder_layers": 1,
    "decoder_attention_heads": 4,
    "decoder_ffn_dim": 64,
    "vocab_size": 128,
    **_DECODES,
}
TROCR = {**MBART, "model_type": "trocr", "cross_attention_hidden_size": 32}
WAV2VEC2 = {
    "model_type": "wav2vec2",
    **_SMALL,
    "num_hidden_layers": 1,
    "conv_dim": [16] * 7,
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 4,
}
DONUT = {
    "model_type": "donut-swin",
    "embed_dim": 16,
    "depths": [2, 1],
    "num_heads": [2, 2],
    "image_size": [64, 64],
    "window_size": 4,
}
CONVOLUTION = "aten.convolution.default"
EMBEDDING = "aten.embedding.default"


@pytest.mark.parametrize(
    ("architecture", "model_type", "encoder", "decoder", "shown"),
    [
        ("VisionEncoderDecoderModel", "vision-encoder-decoder", VIT, {**GPT2, **_DECODES},
         {CONVOLUTION, EMBEDDING}),
        ("VisionEncoderDecoderModel", "vision-encoder-decoder", VIT, TROCR,
         {CONVOLUTION, EMBEDDING}),
        ("VisionEncoderDecoderModel", "vision-encoder-decoder", DONUT, MBART,
         {CONVOLUTION, EMBEDDING, "aten.roll.default"}),
        ("SpeechEncoderDecoderModel", "speech-encoder-decoder", WAV2VEC2, {**BERT, **_DECODES},
         {CONVOLUTION, EMBEDDING}),
        ("SpeechEncoderDecoderModel", "speech-encoder-decoder", WAV2VEC2, MBART,
         {CONVOLUTION, EMBEDDING}),
        ("EncoderDecoderModel", "encoder-decoder", BERT, {**BERT, **_DECODES}, {EMBEDDING}),
    ],
)  # fmt: skip
def test_encoder_and_decoder(
    snapshot: Snapshot,
    architecture: str,
    model_type: str,
    encoder: dict[str, Any],
    decoder: dict[str, Any],
    shown: set[str],
) -> None:
    """Both halves run in one forward, each on its own kind of input, and generation applies."""
    config = {"architectures": [architecture], "model_type": model_type}
    halves = {"encoder": encoder, "decoder": decoder}
    found = trace(component({**config, **halves}, library="transformers"), snapshot, seq_len=16)
    assert found.architecture == architecture
    assert shown <= ops(found)
    modules = {name.partition(".")[0] for use in found.ops for name in use.modules}
    assert {"encoder", "decoder"} <= modules
    assert {"prefill", "decode"} <= set(found.applies)


def test_two_encoders(snapshot: Snapshot) -> None:
    """A dual encoder embeds an image and a text, and compares them."""
    config = {
        "architectures": ["VisionTextDualEncoderModel"],
        "model_type": "vision-text-dual-encoder",
        "vision_config": VIT,
        "text_config": BERT,
        "projection_dim": 16,
    }
    found = trace(component(config, library="transformers"), snapshot, seq_len=16)
    modules = {name.partition(".")[0] for use in found.ops for name in use.modules}
    assert {"vision_model", "text_model", "visual_projection", "text_projection"} <= modules
    assert "prefill" not in found.applies
