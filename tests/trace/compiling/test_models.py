"""Models under Dynamo: a forward in one graph, and what generation compiles anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.trace.compiling.runner import run_compile
from tpu_audit.types.compiled import Change, CompileTrace
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import Role, TraceSettings

if TYPE_CHECKING:
    from op_registry.schema import Snapshot

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_attention_heads": 2,
    "num_hidden_layers": 1,
    "vocab_size": 100,
}


def compiled(snapshot: Snapshot, phase: str, **settings: str) -> dict[str, CompileTrace]:
    """Compile a small Llama."""
    spec = ModelSpec(target="x", id="x", revision=None, config_source="local", config=LLAMA)
    asked = TraceSettings(phase=phase, seq_len=8, **settings)  # type: ignore[arg-type]
    return {trace.settings.phase: trace for trace in run_compile(spec, asked, snapshot)}


def test_a_forward_is_one_graph_for_each_shape(snapshot: Snapshot) -> None:
    """No break; another length or batch fails a guard on the ids, the same inputs fail none."""
    trace = compiled(snapshot, "forward")["forward"]

    assert (trace.graphs, trace.launches, trace.breaks) == (1, 1, ())
    again = {found.change: found for found in trace.recompiles}
    assert not again[Change.NOTHING].anew
    length, batch = again[Change.SEQ_LEN], again[Change.BATCH]
    assert (length.anew, length.was, length.now) == (True, 8, 4)
    assert length.guard == (
        "tensor 'kwargs['input_ids']' size mismatch at index 1. expected 8, actual 4"
    )
    assert batch.guard is not None
    assert "index 0. expected 1, actual 2" in batch.guard
    linear = next(use for use in trace.ops if use.op == "aten.linear.default")
    assert linear.modules[0] == "model.layers.0.self_attn.q_proj"
    assert linear.sources[0].path == "transformers/models/llama/modeling_llama.py"


def test_a_growing_cache_compiles_for_each_token(snapshot: Snapshot) -> None:
    """Each token fails a guard on the size of the cache; a static cache fails none."""
    traces = compiled(snapshot, "decode")

    assert list(traces) == ["decode", "prefill"]
    assert [trace.graphs for trace in traces.values()] == [1, 1]
    token, static = traces["decode"].recompiles
    assert (token.change, token.anew) == (Change.TOKEN, True)
    assert token.guard is not None
    assert "layers[0].keys' size mismatch at index 2. expected 9, actual 10" in token.guard
    assert (static.change, static.anew) == (Change.TOKEN_STATIC, False)
    assert traces["prefill"].recompiles == ()


def test_a_static_cache_compiles_once(snapshot: Snapshot) -> None:
    """Asked for from the start, it is all that is tried."""
    (token,) = compiled(snapshot, "decode", kv_cache="static")["decode"].recompiles

    assert (token.change, token.anew) == (Change.TOKEN, False)


def test_training_compiles_both_directions(snapshot: Snapshot) -> None:
    """Forward with loss and backward are one graph of Dynamo; calls keep their roles."""
    (trace,) = compiled(snapshot, "train").values()

    assert (trace.graphs, trace.breaks) == (1, ())
    assert [(found.change, found.anew) for found in trace.recompiles] == [(Change.NOTHING, False)]
    roles = {use.op: use.role for use in trace.ops}
    assert roles["aten.linear.default"] is Role.MODEL
    assert roles["aten.linear_backward.default"] is Role.BACKWARD
    assert roles["aten.nll_loss_backward.default"] is Role.BACKWARD
