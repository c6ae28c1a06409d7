"""The signature for statistics: traced pairs of small configs share it as they share an op set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tpu_audit.trace.runner import run_trace
from tpu_audit.trace.signature import statistics_signature
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import TraceSettings

if TYPE_CHECKING:
    from op_registry.schema import Snapshot

SETTINGS = TraceSettings(seq_len=16)
TEXT = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_attention_heads": 8,
    "num_hidden_layers": 2,
    "vocab_size": 200,
}
Config = dict[str, Any]


def config(architecture: str, model_type: str, **fields: Any) -> Config:
    """Write a small config."""
    return {"architectures": [architecture], "model_type": model_type, **TEXT, **fields}


LLAMA = config("LlamaForCausalLM", "llama", num_key_value_heads=4)
BERT = config(
    "BertForMaskedLM", "bert", pad_token_id=0, initializer_range=0.02, layer_norm_eps=1e-12
)
MIXTRAL = config(
    "MixtralForCausalLM",
    "mixtral",
    num_key_value_heads=4,
    num_local_experts=4,
    num_experts_per_tok=2,
    sliding_window=None,
)
GEMMA3 = config(
    "Gemma3ForCausalLM",
    "gemma3_text",
    num_key_value_heads=4,
    head_dim=8,
    layer_types=["sliding_attention", "full_attention"],
)
VIT = config("ViTForImageClassification", "vit", image_size=32, patch_size=8)
DEEPSEEK = config(
    "DeepseekV3ForCausalLM",
    "deepseek_v3",
    num_key_value_heads=8,
    n_routed_experts=8,
    kv_lora_rank=18,
    q_lora_rank=26,
    qk_nope_head_dim=16,
    qk_rope_head_dim=8,
    v_head_dim=24,
    n_group=2,
    topk_group=1,
    num_experts_per_tok=2,
    first_k_dense_replace=1,
)

ALIKE: dict[str, tuple[Config, Config]] = {
    "sizes": (LLAMA, {"hidden_size": 128, "intermediate_size": 300, "vocab_size": 333}),
    "depth": (LLAMA, {"num_hidden_layers": 3}),
    "heads that share keys": (LLAMA, {"num_key_value_heads": 2}),
    "names, tokens and the first weights": (
        BERT,
        {"_name_or_path": "x", "pad_token_id": 3, "initializer_range": 0.5, "layer_norm_eps": 1e-3},
    ),
    "number of experts": (MIXTRAL, {"num_local_experts": 6, "num_experts_per_tok": 3}),
    "layers in another number, of the same kinds": (
        GEMMA3,
        {"num_hidden_layers": 3, "layer_types": ["sliding_attention"] * 2 + ["full_attention"]},
    ),
    "image and patch": (VIT, {"image_size": 64, "patch_size": 16}),
    "ranks": (DEEPSEEK, {"kv_lora_rank": 20, "q_lora_rank": 28}),
}
"""What differs -> a config, and fields that leave its op set and its signature as they are."""

UNLIKE: dict[str, tuple[Config, Config]] = {
    "activation": (BERT, {"hidden_act": "relu"}),
    "feeding forward in chunks": (BERT, {"chunk_size_feed_forward": 8}),
    "head size of another attention kernel": (LLAMA, {"head_dim": 160}),
    "rotary scaling": (
        LLAMA,
        {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}},
    ),
    "window within the sequence": (MIXTRAL, {"sliding_window": 4}),
    "soft caps": (GEMMA3, {"final_logit_softcapping": 30.0}),
    "values wider than queries": (DEEPSEEK, {"qk_nope_head_dim": 184, "v_head_dim": 128}),
    "no dense layer at first": (DEEPSEEK, {"first_k_dense_replace": 2}),
}
"""What differs -> a config, and fields that change its op set."""


def spec(content: Config, name: str = "x") -> ModelSpec:
    """Make a spec of a config."""
    return ModelSpec(target=name, id=name, revision=None, config_source="local", config=content)


def ops(content: Config, settings: TraceSettings, snapshot: Snapshot) -> set[str]:
    """Trace a config; its op set."""
    (trace,) = run_trace(spec(content), settings, snapshot)
    return {use.op for use in trace.ops}


@pytest.mark.parametrize("what", ALIKE)
def test_alike(what: str, snapshot: Snapshot) -> None:
    """One signature, and one op set when both are traced."""
    one, changes = ALIKE[what]
    other = {**one, **changes}
    assert other != one
    assert signature(one) == signature(other)
    assert ops(one, SETTINGS, snapshot) == ops(other, SETTINGS, snapshot)


@pytest.mark.parametrize("what", UNLIKE)
def test_unlike(what: str, snapshot: Snapshot) -> None:
    """Another op set when both are traced, and so another signature."""
    one, changes = UNLIKE[what]
    other = {**one, **changes}
    assert ops(one, SETTINGS, snapshot) != ops(other, SETTINGS, snapshot)
    assert signature(one) != signature(other)


@pytest.mark.parametrize(
    ("content", "changes"),
    [(LLAMA, {"attn": "eager"}), (MIXTRAL, {"experts": "eager"})],
)
def test_settings_that_change_the_ops(
    content: Config, changes: dict[str, str], snapshot: Snapshot
) -> None:
    """The implementations that a trace asks for are part of the signature."""
    other = replace(SETTINGS, **changes)  # type: ignore[arg-type]  # all are strings
    assert ops(content, SETTINGS, snapshot) != ops(content, other, snapshot)
    assert signature(content) != signature(content, other)


def test_settings_of_size(snapshot: Snapshot) -> None:
    """Batch and length change sizes only, and limits nothing."""
    other = replace(SETTINGS, batch=3, seq_len=24, timeout_s=9.0, memory_mb=4096)
    assert signature(LLAMA) == signature(LLAMA, other)
    assert ops(LLAMA, SETTINGS, snapshot) == ops(LLAMA, other, snapshot)


def test_parts_count() -> None:
    """A pipeline has the signature of its parts, whatever it is called."""
    whole = replace(spec({}), components=(spec(LLAMA), spec(BERT)))
    other = replace(spec({}), components=(spec(LLAMA), spec({**BERT, "hidden_act": "relu"})))
    named = replace(spec({}, "y"), components=(spec(LLAMA, "z"), spec(BERT)))
    assert statistics_signature(whole, SETTINGS) != statistics_signature(other, SETTINGS)
    assert statistics_signature(whole, SETTINGS) == statistics_signature(named, SETTINGS)


def signature(content: Config, settings: TraceSettings = SETTINGS) -> str:
    """Signature of a config."""
    return statistics_signature(spec(content), settings)
