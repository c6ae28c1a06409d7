"""Prefill and decode through the model's own generate()."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tpu_audit.trace.runner import run_trace
from tpu_audit.types.errors import NotAuditedError
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import Role, Trace, TraceSettings

if TYPE_CHECKING:
    from op_registry.schema import Snapshot

pytestmark = pytest.mark.usefixtures("pretended")
LAYERS = 3
LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 500,
    "eos_token_id": 2,
    "bos_token_id": 1,
}
T5 = {
    "architectures": ["T5ForConditionalGeneration"],
    "model_type": "t5",
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 64,
    "num_layers": 2,
    "num_heads": 4,
    "vocab_size": 300,
    "decoder_start_token_id": 0,
}


def generate(
    snapshot: Snapshot, config: dict[str, Any], *, generation: Any = None, **settings: Any
) -> dict[str, Trace]:
    """Return the traces of one generation by phase."""
    spec = ModelSpec(
        target="t",
        id="t",
        revision=None,
        config_source="local",
        config=config,
        generation_config=generation,
    )
    asked = TraceSettings(**{"phase": "prefill", "seq_len": 16, **settings})
    return {trace.settings.phase: trace for trace in run_trace(spec, asked, snapshot)}


def counts(trace: Trace, role: Role) -> Counter[str]:
    """Return how often each op is called in a role."""
    found = Counter[str]()
    for use in trace.ops:
        if use.role is role:
            found[use.op] += use.count
    return found


def test_one_run_shows_both_phases(snapshot: Snapshot) -> None:
    """Prefill works on the whole prompt, decode on one token, both once through all layers."""
    traces = generate(snapshot, LLAMA)

    assert list(traces) == ["prefill", "decode"]
    for phase, tokens in (("prefill", 16), ("decode", 1)):
        linears = [use for use in traces[phase].ops if use.op == "aten.linear.default"]
        widths = {use.inputs[0].shape[:2] for use in linears if use.inputs[1].shape[0] != 500}
        assert widths == {(1, tokens)}
        assert counts(traces[phase], Role.MODEL)["aten.linear.default"] == 7 * LAYERS + 1


def test_the_phase_asked_for_comes_first(snapshot: Snapshot) -> None:
    """Whoever asks for decode finds it first."""
    assert list(generate(snapshot, LLAMA, phase="decode")) == ["decode", "prefill"]


def test_bookkeeping_is_told_apart(snapshot: Snapshot) -> None:
    """Choosing the token and looking for the end are generation's, not the model's."""
    decode = generate(snapshot, LLAMA)["decode"]
    around, inside = counts(decode, Role.BOOKKEEPING), counts(decode, Role.MODEL)

    assert around["aten.argmax.default"] == 1
    assert around["aten.isin.Tensor_Tensor"] == 1
    assert "aten.argmax.default" not in inside
    assert "aten.linear.default" not in around


def test_the_growing_cache_and_the_static_one(snapshot: Snapshot) -> None:
    """A dynamic cache is concatenated, 16 tokens and one more; a static one is written into."""
    dynamic = generate(snapshot, LLAMA)["decode"]
    static = generate(snapshot, LLAMA, kv_cache="static")["decode"]

    grown = {use.outputs[0].shape for use in dynamic.ops if use.op == "aten.cat.default"}
    assert (1, 2, 17, 16) in grown
    assert counts(static, Role.MODEL)["aten.index_copy_.default"] == 2 * LAYERS
    assert not counts(dynamic, Role.MODEL)["aten.index_copy_.default"]


def test_sampling_is_as_the_generation_config_says(snapshot: Snapshot) -> None:
    """A checkpoint that samples from the nucleus sorts and draws."""
    greedy = generate(snapshot, LLAMA)["decode"]
    sampling = {"do_sample": True, "top_p": 0.9, "temperature": 0.6, "eos_token_id": 2}
    drawn = generate(snapshot, LLAMA, generation=sampling)["decode"]

    around = counts(drawn, Role.BOOKKEEPING)
    assert around["aten.multinomial.default"] == 1
    assert around["aten.sort.default"] == 1
    assert not counts(greedy, Role.BOOKKEEPING)["aten.sort.default"]
    assert any("sampling" in text for text in drawn.assumptions)


def test_an_encoder_runs_once(snapshot: Snapshot) -> None:
    """The encoder is prefill's alone, and it is the model's though generate() calls it."""
    traces = generate(snapshot, T5)

    def encoded(phase: str) -> int:
        modules = {m for use in traces[phase].ops for m in use.modules}
        return sum(module.startswith("encoder.block") for module in modules)

    assert encoded("prefill")
    assert not encoded("decode")


def test_a_class_without_generate_is_skipped(snapshot: Snapshot) -> None:
    """A skip with its reason, not a failure."""
    config = {**LLAMA, "architectures": ["LlamaModel"]}
    with pytest.raises(NotAuditedError) as error:
        generate(snapshot, config)

    assert (error.value.code, error.value.skipped) == ("no_generation", True)


def test_a_single_step_has_no_decode(snapshot: Snapshot) -> None:
    """A CTC head's generate() reads all frames at once: prefill shows it, decode is skipped."""
    encoder = {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_attention_heads": 2,
        "num_hidden_layers": 1,
        "num_mel_bins": 80,
    }
    config = {
        "architectures": ["ParakeetForCTC"],
        "model_type": "parakeet_ctc",
        "encoder_config": {"model_type": "parakeet_encoder", **encoder},
        "vocab_size": 20,
    }
    traces = generate(snapshot, config)
    assert list(traces) == ["prefill"]
    assert "a single step: it has no decode" in " ".join(traces["prefill"].assumptions)
    with pytest.raises(NotAuditedError, match="no decode") as error:
        generate(snapshot, config, phase="decode")
    assert error.value.skipped


def test_a_loop_of_its_own_has_steps(snapshot: Snapshot) -> None:
    """SpeechT5 loops until a threshold that weights decide: the second frame is its decode."""
    sizes = {
        "hidden_size": 16,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 16,
        "decoder_ffn_dim": 16,
        "speech_decoder_prenet_units": 16,
        "speech_decoder_postnet_units": 16,
        "speech_decoder_postnet_layers": 2,
        "speaker_embedding_dim": 8,
        "vocab_size": 40,
    }
    config = {"architectures": ["SpeechT5ForTextToSpeech"], "model_type": "speecht5", **sizes}
    traces = generate(snapshot, config)
    modules = {
        phase: {module for use in trace.ops for module in use.modules}
        for phase, trace in traces.items()
    }
    assert any("speecht5.encoder" in name for name in modules["prefill"])
    assert not any("speecht5.encoder" in name for name in modules["decode"])
    assert any("speecht5.decoder.prenet" in name for name in modules["decode"])
