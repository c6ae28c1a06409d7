"""The cache key: exact in what matters, blind to what cannot."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tpu_audit.trace.key import normalised, trace_key, tracer_digest
from tpu_audit.types.errors import NotAuditedError, Stage
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import TraceSettings

CONFIG: dict[str, Any] = {
    "architectures": ["BertForSequenceClassification"],
    "model_type": "bert",
    "hidden_size": 768,
    "layer_norm_eps": 1e-12,
    "id2label": {"0": "no", "1": "yes"},
    "label2id": {"no": 0, "yes": 1},
    "text_config": {"hidden_size": 64, "_name_or_path": "x"},
}
SPEC = ModelSpec(
    target="t", id="org/t", revision="r", config_source="hub@r", config=CONFIG, notes=("n",)
)


def key(spec: ModelSpec = SPEC, **fields: Any) -> str:
    """Return the key with some circumstances changed."""
    values: dict[str, Any] = {"registry_digest": "d", "versions": {"torch": "2.13.0"}}
    settings = TraceSettings(**fields.pop("settings", {}))
    return trace_key(spec, settings, **(values | fields))


def with_config(**changes: Any) -> ModelSpec:
    """Return the spec with a changed config."""
    return replace(SPEC, config=CONFIG | changes)


def test_same_input_same_key() -> None:
    """Field order, id, revision and notes are not part of a trace."""
    shuffled = dict(reversed(CONFIG.items()))
    other = ModelSpec(target="u", id="org/u", revision=None, config_source="local", config=shuffled)
    assert key(other) == key()


@pytest.mark.parametrize(
    "fields",
    [
        {"library": "peft"},
        {"adapter": {"r": 4}},
        {"component": "unet"},
        {"home": "stable_diffusion"},
        {"siblings": {"vae": {"sample_size": 8}}},
        {"modules": ({"type": "Pooling"},)},
    ],
)
def test_what_a_library_builds_from_matters(fields: dict[str, Any]) -> None:
    """An adapter, the modules of a chain, a pipeline's other components: each changes the key."""
    assert key(replace(SPEC, **fields)) != key()


@pytest.mark.parametrize(
    "changes",
    [
        {"_name_or_path": "org/elsewhere"},
        {"transformers_version": "4.1.0"},
        {"_commit_hash": "abc"},
        {"id2label": {"0": "nein", "1": "ja"}, "label2id": {"nein": 0, "ja": 1}},
        {"text_config": {"hidden_size": 64, "_name_or_path": "y"}},
    ],
)
def test_names_do_not_matter(changes: dict[str, Any]) -> None:
    """Where a config came from and what its labels are called changes no trace."""
    assert key(with_config(**changes)) == key()


@pytest.mark.parametrize(
    "changes",
    [
        {"hidden_size": 769},
        {"hidden_size": 768.0},
        {"layer_norm_eps": 1.0000000000000002e-12},
        {"architectures": ["BertModel"]},
        {"pad_token_id": 0},
        {"is_decoder": True},
        {"is_decoder": 1},
        {"text_config": {"hidden_size": 65, "_name_or_path": "x"}},
        {"id2label": {"0": "a", "1": "b", "2": "c"}},
        {"id2label": {"a": "no", "b": "yes"}},
        {"id2label": {"0": "no", "00": "yes"}},
        {"id2label": {"0": None, "1": "yes"}},
        {"id2label": ["no", "yes"]},
        {"transformers_version": 5},
        {"quantization_config": {"quant_method": "gptq"}},
        {"rope_scaling": {"factor": float("inf")}},
    ],
)
def test_everything_else_matters(changes: dict[str, Any]) -> None:
    """No number is rounded, no type is blurred, no odd label map is taken for a plain one."""
    assert key(with_config(**changes)) != key()


def test_nan_and_infinity_are_told_apart() -> None:
    """Values that JSON lacks are in configs, and are keys like others."""
    keys = {key(with_config(eps=float(text))) for text in ("nan", "inf", "-inf", "0")}
    assert len(keys) == 4


@pytest.mark.parametrize(
    "circumstance",
    [
        {"settings": {"dtype": "float32"}},
        {"settings": {"batch": 2}},
        {"settings": {"seq_len": 129}},
        {"settings": {"tracer": "torch_tpu"}},
        {"settings": {"phase": "train"}},
        {"registry_digest": "e"},
        {"versions": {"torch": "2.14.0"}},
        {"versions": {"torch": "2.13.0", "transformers": "5.0"}},
    ],
)
def test_circumstances_matter(circumstance: dict[str, Any]) -> None:
    """Settings, registry and versions are part of the key."""
    assert key(**circumstance) != key()


@pytest.mark.parametrize(
    "field",
    [
        {"generation_config": {"num_beams": 2}},
        {"processor_configs": {"preprocessor_config.json": {"size": 224}}},
        {"library": "diffusers"},
    ],
)
def test_side_configs_matter(field: dict[str, Any]) -> None:
    """What inputs are made from is part of the key."""
    assert key(replace(SPEC, **field)) != key()


def test_deep_nesting_is_a_clear_failure() -> None:
    """A config nested past what JSON can be written to is refused at stage config."""
    deep: Any = {}
    for _ in range(5_000):
        deep = {"x": deep}
    with pytest.raises(NotAuditedError) as caught:
        key(with_config(deep=deep))
    assert caught.value.stage is Stage.CONFIG


def test_normalising_keeps_the_rest() -> None:
    """Normalising drops names and label texts, and nothing else."""
    kept = normalised({"a": [1, {"id2label": {}}], "id2label": {"0": "x"}, "_name_or_path": "p"})
    assert kept == {"a": [1, {"id2label": {}}], "id2label": {"labels": 1}}
    assert json.loads(json.dumps(normalised(CONFIG)))["hidden_size"] == 768


def test_tracer_digest_is_stable_here() -> None:
    """The tracer's own source is hashed, the same way each time."""
    first = tracer_digest()
    tracer_digest.cache_clear()
    assert tracer_digest() == first
    assert len(first) == 64
