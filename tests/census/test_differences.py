"""The arithmetic behind the report on parameter counts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.census.differences import Case, explain
from tests.census.weights import Weights

HIDDEN, VOCAB, POSITIONS = 64, 1000, 512
CONFIG = {
    "hidden_size": HIDDEN,
    "vocab_size": VOCAB,
    "max_position_embeddings": POSITIONS,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
}
PARAMETERS: dict[str, tuple[int, ...]] = {
    "model.embed.weight": (VOCAB, HIDDEN),
    **{f"model.layers.{i}.self_attn.q.weight": (256, HIDDEN) for i in (0, 1)},
    **{f"model.layers.{i}.mlp.up.weight": (1024, HIDDEN) for i in (0, 1)},
    **{f"model.layers.{i}.norm.weight": (HIDDEN,) for i in (0, 1)},
}
WEIGHTS = Weights(
    parameters=PARAMETERS,
    kept_buffers={"model.table": (3, 5)},
    linear=frozenset(name for name in PARAMETERS if "layers" in name and "norm" not in name),
)
LAYER = 1280 * HIDDEN + HIDDEN
PREDICTION = LAYER + 2 * HIDDEN**2 + 3 * HIDDEN
"""A layer, the projection of two hidden states, and three norms."""


def case(difference: int, **changes: Any) -> Case:
    """Build the case of a published count that is ``difference`` above ours."""
    ours = WEIGHTS.count
    fields = {"config": CONFIG, "weights": WEIGHTS, "quantised": False, **changes}
    return Case(ours=ours, theirs=ours + difference, **fields)


@pytest.mark.parametrize(
    ("difference", "quantised", "words"),
    [
        (POSITIONS, False, ["position_ids (+512)"]),
        (15, False, ["stored buffers (+15)"]),
        (VOCAB * HIDDEN, False, ["tied output head"]),
        (PREDICTION, False, ["1 layer of multi-token prediction"]),
        (3 * PREDICTION + VOCAB * HIDDEN, False, ["3 layers", "with 1 embedding tables"]),
        (15 + 2 * (2 + 8), True, ["stored buffers", "FP8 scales"]),
        (PREDICTION + 3 * (2 + 8), True, ["prediction", "FP8 scales"]),
        (-1280 * HIDDEN, True, ["all linear weights packed, two in a byte"]),
    ],
)
def test_difference_is_explained(difference: int, quantised: bool, words: list[str]) -> None:
    """Each kind of difference between checkpoint and class is named, to the last parameter."""
    reason = explain(case(difference, quantised=quantised))
    assert reason is not None
    assert reason.rest == 0
    assert all(word in str(reason) for word in words)


def test_rounded_number() -> None:
    """A published number that is ours with fewer digits is one that was rounded."""
    wanted = round(WEIGHTS.count, -5)
    reason = explain(case(wanted - WEIGHTS.count))
    assert reason is not None
    assert "rounded" in str(reason)


def test_estimate() -> None:
    """A number that a formula over the config gives is no count."""
    config = {**CONFIG, "intermediate_size": 300}
    estimate = 2 * (4 * HIDDEN**2 + 2 * HIDDEN * 300) + VOCAB * HIDDEN
    reason = explain(case(estimate - WEIGHTS.count, config=config))
    assert reason is not None
    assert "estimate" in str(reason)


def test_no_reason_for_a_wrong_count() -> None:
    """A count that is off for no known reason stays unexplained: the report would say so."""
    assert explain(case(12_345)) is None
    assert explain(case(-1280 * HIDDEN)) is None  # packing, of a checkpoint that is not quantised
