"""Each head gets labels of its task: the loss is the model's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tpu_audit.trace.runner import run_trace
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import Role, TraceSettings

if TYPE_CHECKING:
    from op_registry.schema import Snapshot

TEXT = {
    "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 16, "num_hidden_layers": 1,
    "vocab_size": 50, "max_position_embeddings": 64,
}  # fmt: skip
IMAGE = {
    "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 16, "num_hidden_layers": 1,
    "image_size": 32, "patch_size": 16,
}  # fmt: skip
TOWERS = {
    "text_config": {**TEXT, "projection_dim": 8}, "vision_config": {**IMAGE, "projection_dim": 8},
    "projection_dim": 8,
}  # fmt: skip
YOLOS = {**IMAGE, "image_size": [32, 32], "num_detection_tokens": 3}
T5 = {"d_model": 16, "d_ff": 16, "d_kv": 8, "num_heads": 2, "num_layers": 1, "vocab_size": 50}
SEGFORMER = {
    "num_encoder_blocks": 2, "depths": [1, 1], "sr_ratios": [1, 1], "hidden_sizes": [8, 8],
    "patch_sizes": [3, 3], "strides": [2, 2], "num_attention_heads": [1, 1], "mlp_ratios": [1, 1],
    "decoder_hidden_size": 8, "image_size": 32,
}  # fmt: skip
CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "BertForQuestionAnswering": ("bert", TEXT, "aten.nll_loss_forward.default"),
    "BertForTokenClassification": ("bert", TEXT, "aten.nll_loss_forward.default"),
    "BertForMultipleChoice": ("bert", TEXT, "aten.nll_loss_forward.default"),
    "BertForNextSentencePrediction": ("bert", TEXT, "aten.nll_loss_forward.default"),
    "BertForPreTraining": ("bert", TEXT, "aten.nll_loss_forward.default"),
    "BertForSequenceClassification": (
        "bert", {**TEXT, "num_labels": 1, "problem_type": "regression"}, "aten.mse_loss.default",
    ),
    "BertLMHeadModel": ("bert", {**TEXT, "is_decoder": True}, "aten.nll_loss_forward.default"),
    "ElectraForPreTraining": ("electra", TEXT, "aten.binary_cross_entropy_with_logits.default"),
    "T5ForConditionalGeneration": ("t5", T5, "aten.nll_loss_forward.default"),
    "CLIPModel": ("clip", TOWERS, "aten.nll_loss_forward.default"),
    "ViTForImageClassification": ("vit", IMAGE, "aten.nll_loss_forward.default"),
    "ViTForMaskedImageModeling": ("vit", IMAGE, "aten.abs.default"),
    "YolosForObjectDetection": ("yolos", YOLOS, "aten.nll_loss2d_forward.default"),
    "SegformerForSemanticSegmentation": (
        "segformer", SEGFORMER, "aten.nll_loss2d_forward.default",
    ),
}  # fmt: skip


@pytest.mark.parametrize("architecture", CASES)
def test_the_head_computes_its_own_loss(snapshot: Snapshot, architecture: str) -> None:
    """The loss of the task is among the model's calls, and no stand-in was needed."""
    model_type, config, op = CASES[architecture]
    content = {"architectures": [architecture], "model_type": model_type, **config}
    spec = ModelSpec(target="x", id="x", revision=None, config_source="local", config=content)
    (trace,) = run_trace(spec, TraceSettings(phase="train", seq_len=8), snapshot)

    assert [text for text in trace.assumptions if text.startswith("loss:")] == []
    assert op in {use.op for use in trace.ops if use.role is Role.MODEL}
    assert not any(use.role is Role.LOSS for use in trace.ops)


def test_several_labels_are_scored_as_such(snapshot: Snapshot) -> None:
    """``problem_type`` decides over dtype and shape of the labels."""
    content = {
        "architectures": ["BertForSequenceClassification"], "model_type": "bert", **TEXT,
        "problem_type": "multi_label_classification",
    }  # fmt: skip
    spec = ModelSpec(target="x", id="x", revision=None, config_source="local", config=content)
    (trace,) = run_trace(spec, TraceSettings(phase="train", seq_len=8), snapshot)

    assert any(u.op == "aten.binary_cross_entropy_with_logits.default" for u in trace.ops)
