"""PEFT adapters in small base models."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.libraries import component, ops, trace
from tpu_audit.types.errors import NotAuditedError

if TYPE_CHECKING:
    from op_registry.schema import Snapshot
    from tpu_audit.types.model import ModelSpec

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "vocab_size": 128,
}
LORA = {
    "peft_type": "LORA",
    "task_type": "CAUSAL_LM",
    "r": 4,
    "lora_alpha": 8,
    "lora_dropout": 0.1,
    "target_modules": ["q_proj", "v_proj"],
    "a_field_of_the_future": 1,
}
needs_peft = pytest.mark.skipif(find_spec("peft") is None, reason="needs the extra peft")


def _spec(adapter: dict[str, Any], **config: Any) -> ModelSpec:
    return component({**LLAMA, **config}, library="peft", adapter=adapter)


@needs_peft
def test_lora(snapshot: Snapshot) -> None:
    """Two layers of rank 4 stand beside q and v of each block, in float32 as peft loads them."""
    found = trace(_spec(LORA), snapshot)
    plain = trace(component(LLAMA, library="transformers"), snapshot)
    assert found.architecture == "LlamaForCausalLM"
    assert found.parameters - plain.parameters == 2 * (4 * (32 + 32) + 4 * (32 + 16))
    ranked = [use for use in found.ops if any("lora_A" in name for name in use.modules)]
    assert {ref.dtype for use in ranked for ref in use.inputs} == {"float32"}
    assert sum(use.count for use in ranked if use.op == "aten.linear.default") == 4
    assert "LORA adapter of rank 4, not merged, in float32 as peft loads it" in found.assumptions
    lines = {source.path for use in found.ops for source in use.sources}
    assert any(path.startswith("peft/tuners/lora/") for path in lines)


@needs_peft
def test_only_the_adapter_learns(snapshot: Snapshot) -> None:
    """Training updates the adapter's eight matrices and no weight of the base model."""
    spec = _spec({**LORA, "inference_mode": True})
    assert "train" in trace(spec, snapshot).applies
    found = trace(spec, snapshot, phase="train", optimizer="sgd")
    updated = [use for use in found.ops if use.role.value == "optimizer"]
    shapes = {ref.shape for use in updated for ref in use.inputs if len(ref.shape) > 1}
    assert shapes == {(4, 32), (32, 4), (16, 4)}


@needs_peft
@pytest.mark.parametrize(
    ("kind", "fields", "op"),
    [
        ("IA3", {"feedforward_modules": []}, "aten.mul.Tensor"),
        ("LOHA", {"r": 2}, "aten.mul.Tensor"),
        ("ADALORA", {"total_step": 10}, "aten.mul.Tensor"),
        ("PROMPT_TUNING", {"num_virtual_tokens": 8}, "aten.cat.default"),
        ("PREFIX_TUNING", {"num_virtual_tokens": 8}, "aten.cat.default"),
    ],
)
def test_other_types(snapshot: Snapshot, kind: str, fields: dict[str, Any], op: str) -> None:
    """Adapters of other types are built by peft, prompts among them."""
    adapter = {"peft_type": kind, "task_type": "CAUSAL_LM", **fields}
    if "num_virtual_tokens" not in fields:
        adapter["target_modules"] = ["q_proj", "v_proj"]
    found = trace(_spec(adapter), snapshot)
    assert op in ops(found)
    assert any(kind in text for text in found.assumptions)


@needs_peft
def test_the_task_chooses_the_head(snapshot: Snapshot) -> None:
    """An adapter for classification is put into the class that peft loads for it."""
    adapter = {**LORA, "task_type": "SEQ_CLS"}
    found = trace(_spec(adapter, pad_token_id=0), snapshot)
    assert found.architecture == "LlamaForSequenceClassification"


@needs_peft
@pytest.mark.parametrize(
    ("adapter", "code"),
    [
        ({"peft_type": "NO_SUCH"}, "unknown_adapter"),
        ({"peft_type": None}, "unknown_adapter"),
        ({**LORA, "target_modules": ["nothing_of_the_kind"]}, "build_failed"),
        ({**LORA, "r": -1}, "build_failed"),
        ({**LORA, "layers_to_transform": 1, "target_modules": "a|b"}, "invalid_config"),
    ],
)
def test_refusals(snapshot: Snapshot, adapter: dict[str, Any], code: str) -> None:
    """Adapters that do not fit have their own codes."""
    with pytest.raises(NotAuditedError) as caught:
        trace(_spec(adapter), snapshot)
    assert caught.value.code == code
    assert caught.value.hint


def test_without_peft(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without peft the outcome is a skip that names the extra."""
    from tpu_audit.trace.libraries import extras

    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(NotAuditedError, match="needs the extra peft") as caught:
        trace(_spec(LORA), snapshot)
    assert (caught.value.code, caught.value.skipped) == ("missing_extra", True)
