"""One training step: who issues which ops, under each option, and where they belong."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.wheel import ROOT, both, needs_wheel
from tpu_audit.trace.runner import run_trace
from tpu_audit.types.errors import NotAuditedError
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import OPTIMIZERS, OpUse, Role, Trace, TraceSettings

if TYPE_CHECKING:
    from collections.abc import Iterable

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
PARAMETERS = 42


def train(snapshot: Snapshot, config: dict[str, Any] | None = None, **settings: Any) -> Trace:
    """Trace a training step of a small model."""
    content = config or BERT
    spec = ModelSpec(target="x", id="x", revision=None, config_source="local", config=content)
    asked = TraceSettings(**{"phase": "train", "seq_len": 8, **settings})
    (trace,) = run_trace(spec, asked, snapshot)
    return trace


def ops(uses: Iterable[OpUse], role: Role) -> Counter[str]:
    """Return op -> calls of one role."""
    found: Counter[str] = Counter()
    for use in uses:
        if use.role is role:
            found[use.op] += use.count
    return found


@pytest.fixture(scope="module", name="bert")
def _bert(snapshot: Snapshot) -> Trace:
    """Train a small BERT with the defaults."""
    return train(snapshot)


def test_each_part_of_the_step_has_its_role(bert: Trace) -> None:
    """Forward with its loss, backward, clipping and the optimizer are told apart."""
    model, backward = ops(bert.ops, Role.MODEL), ops(bert.ops, Role.BACKWARD)

    assert model["aten.linear.default"] == backward["aten.linear_backward.default"] == 14
    assert model["aten.nll_loss_forward.default"] == 1
    assert model["aten.native_dropout.default"] == 5  # train mode: dropout draws
    assert backward["aten.nll_loss_backward.default"] == 1
    assert ops(bert.ops, Role.CLIP)["aten._foreach_norm.Scalar"] == 1
    assert ops(bert.ops, Role.OPTIMIZER)["aten._foreach_addcdiv_.ScalarList"] == 1
    assert not ops(bert.ops, Role.BOOKKEEPING)
    assert "aten.linear_backward.default" not in model


def test_backward_calls_carry_the_place_of_their_forward_call(bert: Trace) -> None:
    """The gradient of a layer is the layer's, with the line that called it."""
    (gelu,) = [u for u in bert.ops if u.op == "aten.gelu_backward.default" and u.count == 2]

    # Backward runs from the last layer to the first.
    assert gelu.modules == tuple(
        f"bert.encoder.layer.{i}.intermediate.intermediate_act_fn" for i in (1, 0)
    )
    assert [s.path for s in gelu.sources] == ["transformers/models/bert/modeling_bert.py"]


def test_backward_costs_twice_the_forward(bert: Trace) -> None:
    """Each linear layer is multiplied twice more: for its input's and for its weight's gradient."""
    cost = dict.fromkeys(("aten.linear.default", "aten.linear_backward.default"), 0)
    for use in bert.ops:
        if use.op in cost:
            cost[use.op] += use.flops or 0
    (attention,) = [u for u in bert.ops if "attention_backward" in u.op]

    assert cost["aten.linear_backward.default"] == 2 * cost["aten.linear.default"] > 0
    assert attention.flops


def test_every_backward_call_but_the_loss_belongs_to_a_submodule(bert: Trace) -> None:
    """Only what the model itself computes, its loss, is left to the model itself."""
    root = {u.op for u in bert.ops if u.role is Role.BACKWARD and "" in u.modules}

    # The gradient of the loss by itself, and the reshaping of logits for it.
    assert root == {"aten.ones_like.default", "aten.view.default"}


@pytest.mark.parametrize(
    ("optimizer", "op", "calls"),
    [
        ("adamw", "aten._foreach_lerp_.Scalar", 1),
        ("adamw-fused", "aten._fused_adamw_.default", 1),
        ("adamw-loop", "aten.addcdiv_.default", PARAMETERS),
        ("sgd", "aten._foreach_add_.List", 2),
        ("adafactor", "aten._local_scalar_dense.default", 2 * PARAMETERS),
    ],
)
def test_optimizers_call_what_they_are_made_of(
    snapshot: Snapshot, optimizer: str, op: str, calls: int
) -> None:
    """Each optimizer shows its own implementation: per parameter, in lists, or in one op."""
    assert optimizer in OPTIMIZERS

    assert ops(train(snapshot, optimizer=optimizer).ops, Role.OPTIMIZER)[op] == calls


def test_checkpointing_recomputes_the_layers_in_backward(snapshot: Snapshot, bert: Trace) -> None:
    """Forward is unchanged; backward calls the layers' forward ops again, in their modules."""
    recomputed = train(snapshot, checkpointing=True)

    # What the layers save is not detached for keeping: it is not kept.
    fewer = ops(bert.ops, Role.MODEL) - ops(recomputed.ops, Role.MODEL)
    assert fewer == Counter({"aten.detach.default": 2})
    again = ops(recomputed.ops, Role.BACKWARD) - ops(bert.ops, Role.BACKWARD)
    assert again["aten.gelu.default"] == 2
    assert again["aten.linear.default"] > 8
    (gelu,) = [u for u in recomputed.ops if u.op == "aten.gelu.default" and u.role is Role.BACKWARD]
    assert gelu.modules[0] == "bert.encoder.layer.1.intermediate.intermediate_act_fn"


def test_a_class_that_cannot_checkpoint_is_skipped(snapshot: Snapshot) -> None:
    """The reason names the class and what to do."""
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = {
        "architectures": ["IBertForMaskedLM"], "model_type": "ibert", "vocab_size": 50,
        "intermediate_size": 16, **small,
    }  # fmt: skip

    with pytest.raises(NotAuditedError, match="does not support activation checkpointing") as told:
        train(snapshot, config, checkpointing=True, dtype="float32")

    assert (told.value.code, told.value.skipped) == ("no_checkpointing", True)


def test_autocast_casts_weights_and_keeps_their_gradients(snapshot: Snapshot) -> None:
    """Layers compute in bfloat16, the loss in float32, and each weight is cast once."""
    trace = train(snapshot, dtype="float32", autocast="bfloat16")
    linear = [u for u in trace.ops if u.op == "aten.linear.default"]

    assert {t.dtype for u in linear for t in u.inputs} == {"bfloat16"}
    (loss,) = [u for u in trace.ops if u.op == "aten.nll_loss_forward.default"]
    assert loss.inputs[0].dtype == "float32"
    assert trace.no_gradient == ()
    casts = [u for u in trace.ops if u.op == "aten._to_copy.default" and u.role is Role.MODEL]
    assert [u.count for u in casts if u.inputs[0].shape == (100, 32)] == [1]


def test_the_real_backend_is_not_asked_to_train(snapshot: Snapshot) -> None:
    """Its autograd needs a device: said so, not tried."""
    with pytest.raises(NotAuditedError, match="torch_tpu tracer cannot train") as told:
        train(snapshot, tracer="torch_tpu")

    assert told.value.skipped


def test_training_applies_to_a_model_with_weights(bert: Trace) -> None:
    """What a scan finds out of a trace: the phases to offer."""
    assert "train" in bert.applies


def test_traces_repeat(snapshot: Snapshot) -> None:
    """Whatever a model draws while it trains, two traces are alike."""
    config = {
        "architectures": ["Wav2Vec2ForCTC"], "model_type": "wav2vec2", "hidden_size": 32,
        "num_attention_heads": 2, "intermediate_size": 32, "num_hidden_layers": 3,
        "num_conv_pos_embedding_groups": 2, "vocab_size": 20, "layerdrop": 0.5,
    }  # fmt: skip
    first, second = (train(snapshot, config) for _ in range(2))

    assert first.ops == second.ops
    assert any("layerdrop" in text for text in first.assumptions)
    model = ops(first.ops, Role.MODEL)
    assert model["aten.ctc_loss.Tensor"] == 1
    assert model["aten._scaled_dot_product_cudnn_attention.default"] == 3  # no layer is skipped


@needs_wheel
@pytest.mark.tpu
def test_steps_are_made_of_the_ops_that_the_wheel_sees() -> None:
    """Forward, loss, backward, clipping and optimizer call the same ops as often on both."""
    pretended, real = both(ROOT / "tests/support/training_models.py")

    different = {name for name, calls in real.items() if calls != pretended[name]}
    assert different == set()
    assert all(any(call.startswith("backward") for call in calls) for calls in real.values())
