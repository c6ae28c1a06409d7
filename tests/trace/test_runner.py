"""A whole trace in this process: what is built, counted and placed, and how it fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tpu_audit.trace.runner import run_trace
from tpu_audit.types.errors import NotAuditedError, Stage
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import Trace, TraceSettings

if TYPE_CHECKING:
    from op_registry.schema import Snapshot

BERT = {
    "architectures": ["BertForMaskedLM"],
    "model_type": "bert",
    "hidden_size": 32,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "vocab_size": 100,
    "max_position_embeddings": 64,
}


def trace(config: dict[str, object], snapshot: Snapshot, **settings: object) -> Trace:
    """Trace a config."""
    spec = ModelSpec(target="x", id="x", revision=None, config_source="local", config=config)
    asked = TraceSettings(**{"seq_len": 8, **settings})  # type: ignore[arg-type]
    return run_trace(spec, asked, snapshot)[0]


def without(key: str, **changes: object) -> dict[str, object]:
    """Return the config with a field dropped and others changed."""
    return {k: v for k, v in {**BERT, **changes}.items() if k != key}


def test_tied_parameters_count_once(snapshot: Snapshot) -> None:
    """The decoder shares the word embeddings: they are counted once."""
    hidden, inner, layers = 32, 64, 2
    embeddings = (100 + 64 + 2) * hidden + 2 * hidden
    layer = 4 * (hidden * hidden + hidden) + 2 * (2 * hidden) + 2 * hidden * inner + inner + hidden
    head = hidden * hidden + hidden + 2 * hidden + 100

    assert trace(BERT, snapshot).parameters == embeddings + layers * layer + head


def test_places_are_exact(snapshot: Snapshot) -> None:
    """A call carries the modules and the line of the model's own file that issued it."""
    (gelu,) = [u for u in trace(BERT, snapshot).ops if u.op == "aten.gelu.default" and u.count == 2]

    assert gelu.modules == tuple(
        f"bert.encoder.layer.{i}.intermediate.intermediate_act_fn" for i in range(2)
    )
    assert [s.path for s in gelu.sources] == ["transformers/models/bert/modeling_bert.py"]


def test_settings_reach_the_tensors(snapshot: Snapshot) -> None:
    """Batch, sequence length and dtype of the settings are those of the calls."""
    traced = trace(BERT, snapshot, batch=3, seq_len=16, dtype="float16")

    (first,) = [u for u in traced.ops if u.op == "aten.gelu.default" and u.count == 2]
    assert (first.inputs[0].shape, first.inputs[0].dtype) == ((3, 16, 64), "float16")


def test_traces_are_equal_run_by_run(snapshot: Snapshot) -> None:
    """The same config and settings give the same trace."""
    assert trace(BERT, snapshot) == trace(BERT, snapshot)


def test_depth_is_full(snapshot: Snapshot) -> None:
    """Every layer is traced: linear calls grow with the number of layers."""

    def linears(layers: int) -> int:
        ops = trace({**BERT, "num_hidden_layers": layers}, snapshot).ops
        return sum(u.count for u in ops if u.op == "aten.linear.default")

    assert linears(7) - linears(2) == 5 * 6


def test_no_architecture_means_the_base_model(snapshot: Snapshot) -> None:
    """A config without ``architectures`` is traced as its type's base model, and says so."""
    traced = trace(without("architectures"), snapshot)

    assert traced.architecture == "BertModel"
    assert any("BertModel" in sentence for sentence in traced.assumptions)


def test_quantised_config_is_traced_plain(snapshot: Snapshot) -> None:
    """Quantisation is left out of the trace, and the trace says so."""
    traced = trace({**BERT, "quantization_config": {"quant_method": "gptq", "bits": 4}}, snapshot)

    assert any("quantization_config" in sentence for sentence in traced.assumptions)


@pytest.mark.parametrize(
    ("config", "stage", "code", "skipped"),
    [
        ({**BERT, "architectures": ["NoSuchModel"]}, Stage.BUILD, "unknown_architecture", False),
        (
            {"architectures": ["NoSuchModel"], "auto_map": {"AutoModel": "m.NoSuchModel"}},
            Stage.BUILD,
            "remote_code",
            True,
        ),
        (without("architectures", model_type="nope"), Stage.BUILD, "unknown_model_type", False),
        ({**BERT, "hidden_size": "wide"}, Stage.CONFIG, "invalid_config", False),
        ({**BERT, "num_attention_heads": 5}, Stage.BUILD, "build_failed", False),
        ({**BERT, "hidden_act": "no-such-act"}, Stage.BUILD, "build_failed", False),
        (
            {
                "architectures": ["MobileViTModel"],
                "model_type": "mobilevit",
                "image_size": 2**40,  # more than a tensor's sizes may multiply to
            },
            Stage.INPUTS,
            "inputs_failed",
            False,
        ),
    ],
)
def test_failures_name_their_stage(
    snapshot: Snapshot, config: dict[str, object], stage: Stage, code: str, skipped: bool
) -> None:
    """What cannot be traced says at which stage, with a stable code, in one line."""
    with pytest.raises(NotAuditedError) as error:
        trace(config, snapshot)
    assert (error.value.stage, error.value.code, error.value.skipped) == (stage, code, skipped)
    assert "\n" not in error.value.message


def test_another_registry_is_refused(pretended: str, snapshot: Snapshot) -> None:
    """Kernels cannot be taken back: a process pretends with one registry only."""
    import dataclasses

    from tpu_audit.trace.device import pretend
    from tpu_audit.types.errors import UsageError

    assert pretended == "tpu"
    with pytest.raises(UsageError):
        pretend(dataclasses.replace(snapshot, digest="another"))
