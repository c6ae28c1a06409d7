"""Whole models: the pretended device against the wheel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.trace_models import MODELS
from tests.support.wheel import both, needs_wheel

SCRIPT = Path(__file__).parents[1] / "support" / "trace_models.py"

EXPLAINED: dict[str, str] = {}
"""Model -> why its op set differs between the two tracers. Empty: none does."""


@pytest.fixture(scope="module", name="answers")
def _answers() -> tuple[dict[str, Any], dict[str, Any]]:
    """All models on both tracers."""
    pretended, real = both(SCRIPT)
    return pretended, real


def ops(answer: dict[str, Any]) -> set[str]:
    """Op set of one traced model."""
    return {call[0] for call in answer["calls"]}


@needs_wheel
@pytest.mark.tpu
def test_all_models_trace(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Each of the models runs to its end on both tracers, with the same parameter count."""
    pretended, real = answers

    errors = {name: a["error"] for side in answers for name, a in side.items() if "error" in a}
    assert errors == {}
    assert len(MODELS) >= 40
    assert {n: a["parameters"] for n, a in pretended.items()} == {
        n: a["parameters"] for n, a in real.items()
    }


@needs_wheel
@pytest.mark.tpu
def test_op_sets_are_equal(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Both tracers dispatch the same ops for every model without an explanation."""
    pretended, real = answers

    different = {
        name: sorted(ops(pretended[name]) ^ ops(real[name]))
        for name in MODELS
        if ops(pretended[name]) != ops(real[name])
    }
    assert set(different) == set(EXPLAINED), different
    assert len(different) <= 1


@needs_wheel
@pytest.mark.tpu
def test_calls_are_equal_to_the_last_argument(
    answers: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    """Tensors, arguments and counts of every distinct call agree as well."""
    pretended, real = answers

    different = {
        name: [c for c in pretended[name]["calls"] if c not in real[name]["calls"]][:3]
        for name in set(MODELS) - set(EXPLAINED)
        if sorted(pretended[name]["calls"]) != sorted(real[name]["calls"])
    }
    assert different == {}
