"""Lowering through the real wheel's kernels, on a host without a TPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.wheel import PYTHON, needs_wheel, run_json

pytestmark = needs_wheel


@pytest.fixture(scope="module")
def seen() -> Any:
    """Return what came of a few calls."""
    assert PYTHON is not None
    return run_json(PYTHON, Path(__file__).with_name("lower_some.py"))


def test_forms_of_an_op_share_a_program(seen: Any) -> None:
    """In place, with out= and functional, an op is one program with one argument."""
    assert seen["abs"] == seen["abs_"] == seen["abs.out"]
    assert (seen["abs"]["inputs"], seen["abs"]["outputs"]) == (1, 1)


def test_what_an_op_writes_to_is_a_result(seen: Any) -> None:
    """Parameters, gradients and buffers of an optimizer; statistics the schema does not mention."""
    assert (seen["sgd"]["inputs"], seen["sgd"]["outputs"]) == (6, 6)
    assert (seen["norm"]["inputs"], seen["norm"]["outputs"]) == (5, 5)


def test_calls_without_tensors_lower(seen: Any) -> None:
    """A factory makes a program without arguments; a question about shapes needs none."""
    assert (seen["zeros"]["inputs"], seen["zeros"]["outputs"]) == (0, 1)
    assert seen["size"]["digest"] is None


def test_lengths_may_stay_on_the_cpu(seen: Any) -> None:
    """A packed sequence lowers with its batch sizes on the host."""
    assert seen["packed"]["host_integers"]
    assert not seen["abs"]["host_integers"]


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("mish", "not_implemented"),
        ("nonzero", "host_sync"),
        ("rand", "needs_device"),
        ("mm", "rejected"),
    ],
)
def test_a_refusal_has_its_cause(seen: Any, name: str, cause: str) -> None:
    """The backend's own words tell a missing kernel from a refused dtype and a host read."""
    assert seen[name]["cause"] == cause
    assert "0x" not in seen[name]["message"]


def test_forward_and_backward_lower_together(seen: Any) -> None:
    """The program takes the cotangent and gives the gradient."""
    assert (seen["exp"]["inputs"], seen["exp"]["outputs"]) == (2, 2)
    assert seen["lstm"]["outputs"] > 3


def test_a_lost_gradient_is_told(seen: Any) -> None:
    """A kernel that cuts its output off from autograd does not pass as differentiable."""
    assert seen["pool"]["cause"] == "values"
    assert seen["pool"]["message"].startswith("the gradient is lost")
