"""Traces many small models on one device and prints the calls of each.

``python trace_models.py pretended|torch_tpu``. Prints one line of JSON: name -> what was traced
(architecture, parameters, distinct calls with counts) or the error.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

from tests.support.device import take_device
from tpu_audit.trace.runner import trace_on_device
from tpu_audit.types.errors import NotAuditedError
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import Trace, TraceSettings

TWO = {"num_hidden_layers": 2}
ENCODER_DECODER = {"encoder_layers": 1, "decoder_layers": 1}
SMALL = {"hidden_size": 256, "intermediate_size": 512, "vocab_size": 1000, **TWO}


def llama(head_dim: int) -> dict[str, Any]:
    """Two layers of Llama with this head size."""
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": head_dim}
    return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", **SMALL, **heads}


def model(architecture: str, model_type: str, **fields: Any) -> dict[str, Any]:
    """Write a config by hand: the class, its type, and fields that keep it small."""
    return {"architectures": [architecture], "model_type": model_type, **fields}


MODELS: dict[str, tuple[dict[str, Any], str]] = {
    **{f"llama head {h}": (llama(h), "bfloat16") for h in (64, 128, 160, 192)},
    "llama f16": (llama(64), "float16"),
    "llama f32": (llama(64), "float32"),
    "bert": (model("BertForMaskedLM", "bert", **TWO), "bfloat16"),
    "bert f16": (model("BertForMaskedLM", "bert", **TWO), "float16"),
    "roberta": (model("RobertaForSequenceClassification", "roberta", **TWO), "bfloat16"),
    "albert": (model("AlbertForMaskedLM", "albert", **TWO), "bfloat16"),
    "electra": (model("ElectraForPreTraining", "electra", **TWO), "bfloat16"),
    "distilbert": (model("DistilBertForMaskedLM", "distilbert", n_layers=2), "bfloat16"),
    "deberta v2": (model("DebertaV2ForMaskedLM", "deberta-v2", **TWO), "bfloat16"),
    "xlnet": (model("XLNetLMHeadModel", "xlnet", n_layer=2), "float32"),
    "gpt2": (model("GPT2LMHeadModel", "gpt2", n_layer=2), "bfloat16"),
    "gpt neox": (
        model("GPTNeoXForCausalLM", "gpt_neox", **SMALL, num_attention_heads=4),
        "bfloat16",
    ),
    "bloom": (model("BloomForCausalLM", "bloom", n_layer=2), "bfloat16"),
    "opt": (model("OPTForCausalLM", "opt", **TWO), "bfloat16"),
    "falcon": (model("FalconForCausalLM", "falcon", **TWO), "bfloat16"),
    "phi3": (
        model("Phi3ForCausalLM", "phi3", **SMALL, num_attention_heads=4, pad_token_id=0),
        "bfloat16",
    ),
    "qwen3": (model("Qwen3ForCausalLM", "qwen3", **SMALL), "bfloat16"),
    "gemma2": (model("Gemma2ForCausalLM", "gemma2", **SMALL), "bfloat16"),
    "gemma3": (model("Gemma3ForCausalLM", "gemma3_text", **SMALL), "bfloat16"),
    "mixtral": (model("MixtralForCausalLM", "mixtral", **SMALL), "bfloat16"),
    "mixtral f32": (model("MixtralForCausalLM", "mixtral", **SMALL), "float32"),
    "gpt oss": (model("GptOssForCausalLM", "gpt_oss", **SMALL, num_local_experts=4), "bfloat16"),
    "deepseek v3": (
        model("DeepseekV3ForCausalLM", "deepseek_v3", **SMALL, n_routed_experts=16),
        "bfloat16",
    ),
    "qwen3 next": (
        model("Qwen3NextForCausalLM", "qwen3_next", **{**SMALL, "num_hidden_layers": 4}),
        "bfloat16",
    ),
    "mamba": (model("MambaForCausalLM", "mamba", **TWO), "bfloat16"),
    "mamba2": (
        model(
            "Mamba2ForCausalLM", "mamba2",
            hidden_size=256, num_heads=8, head_dim=64, n_groups=2, **TWO,
        ),
        "bfloat16",
    ),
    "falcon h1": (model("FalconH1ForCausalLM", "falcon_h1", **TWO), "bfloat16"),
    "t5": (
        model("T5ForConditionalGeneration", "t5", num_layers=2, decoder_start_token_id=0),
        "bfloat16",
    ),
    "bart": (model("BartForConditionalGeneration", "bart", **ENCODER_DECODER), "bfloat16"),
    "m2m 100": (model("M2M100ForConditionalGeneration", "m2m_100", **ENCODER_DECODER), "bfloat16"),
    "vit": (model("ViTForImageClassification", "vit", **TWO), "bfloat16"),
    "swin": (model("SwinForImageClassification", "swin"), "bfloat16"),
    "dinov2": (model("Dinov2Model", "dinov2", **TWO), "bfloat16"),
    "resnet": (model("ResNetForImageClassification", "resnet"), "bfloat16"),
    "convnext": (model("ConvNextForImageClassification", "convnext"), "bfloat16"),
    "segformer": (model("SegformerForSemanticSegmentation", "segformer"), "bfloat16"),
    "detr": (
        model(
            "DetrForObjectDetection", "detr", **ENCODER_DECODER,
            backbone_config={"model_type": "resnet", "out_features": ["stage4"]},
        ),
        "bfloat16",
    ),
    "sam": (model("SamModel", "sam", vision_config={"num_hidden_layers": 2}), "bfloat16"),
    "clip": (
        model("CLIPModel", "clip", text_config=TWO, vision_config=TWO),
        "bfloat16",
    ),
    "wav2vec2": (model("Wav2Vec2ForCTC", "wav2vec2", **TWO), "bfloat16"),
    "whisper": (model("WhisperForConditionalGeneration", "whisper", **ENCODER_DECODER), "bfloat16"),
    "encodec": (model("EncodecModel", "encodec"), "float32"),
}  # fmt: skip
"""Name -> (config, dtype)."""


def describe(trace: Trace) -> dict[str, Any]:
    """Say what was traced, so that two tracers can be compared to the last argument."""
    calls = [
        [use.op, repr((use.inputs, use.outputs, tuple(use.args.items()))), use.count]
        for use in trace.ops
    ]
    return {
        "architecture": trace.architecture,
        "parameters": trace.parameters,
        "calls": calls,
        "guesses": sum(use.guesses for use in trace.ops),
    }


def trace_one(name: str, config: dict[str, Any], dtype: str) -> dict[str, Any]:
    """Trace one config."""
    spec = ModelSpec(target=name, id=name, revision=None, config_source="local", config=config)
    try:
        return describe(trace_on_device(spec, TraceSettings(dtype=dtype, seq_len=32), "")[0])
    except NotAuditedError as error:
        return {"error": f"{error.stage}: {error.message}"}


def main() -> None:
    """Set up the device that the command line names, trace all models, print the answers."""
    warnings.simplefilter("ignore")
    take_device(sys.argv[1])
    answers = {name: trace_one(name, *case) for name, case in MODELS.items()}
    sys.stdout.write("\n" + json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
