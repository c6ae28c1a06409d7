"""Installing reference kernels where the real wheel is, on a host without a TPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from op_registry.errors import RegistryError
from op_registry.loader import load
from op_registry.reference import install
from op_registry.schema import Support
from tests.support.wheel import PYTHON, needs_wheel, run_json


@pytest.fixture(scope="module")
def seen() -> Any:
    """Return what a process with the wheel saw before and after installing."""
    assert PYTHON is not None
    return run_json(PYTHON, Path(__file__).with_name("install_child.py"))


def test_without_torch_tpu() -> None:
    """An environment without torch-tpu is told so, and how to get it."""
    with pytest.raises(RegistryError, match="torch-tpu is not installed") as caught:
        install()
    assert "pip install torch-tpu" in str(caught.value.hint)


@needs_wheel
def test_ops_lower_that_raised_before(seen: Any) -> None:
    """Every op with a kernel raised before and lowers afterwards; a dry run changes nothing."""
    affected = {one["op"] for one in seen["installed"] if not one["reason"]} & set(seen["before"])
    assert {op for op in affected if not seen["before"][op]} <= set(seen["above"])
    assert seen["still"] == seen["before"]
    assert {op: seen["after"][op] for op in affected if seen["after"][op]} == {}
    assert any("not implemented for TPU" in error for error in seen["before"].values())


@needs_wheel
def test_lost_gradients_are_kept(seen: Any) -> None:
    """avg_pool1d, LSTM and GRU give their inputs gradients, as ops with a formula do."""
    assert {name for name, kept in seen["lost"].items() if not kept} == {
        "avg_pool1d",
        "lstm",
        "gru",
    }
    assert all(seen["kept"].values())
    keeping = {one["op"] for one in seen["installed"] if one["keeps_gradient"]}
    assert keeping >= {"aten.avg_pool1d.default", "aten.lstm.input", "aten.gru.input"}


@needs_wheel
def test_a_second_call_changes_nothing(seen: Any) -> None:
    """Dry run, installation and a second installation tell the same."""
    assert seen["planned"] == seen["installed"] == seen["again"]


@needs_wheel
def test_never_over_a_native_kernel(seen: Any) -> None:
    """Nothing is registered for an op that the registry calls native, but to keep a gradient."""
    ops = load("0.2.0+torch2.13").ops
    taken = [one["op"] for one in seen["installed"] if not one["reason"]]
    over = {op for op in taken if op in ops and ops[op].support is Support.NATIVE}
    assert over == {one["op"] for one in seen["installed"] if one["keeps_gradient"]}


@needs_wheel
def test_only_some(seen: Any) -> None:
    """A packet brings its overloads and no other op; a wrong name is told with a suggestion."""
    assert set(seen["part"]) == {"aten.trace.default", "aten.trace.out"}
    message, hint = seen["wrong"]
    assert "'aten.trac.default'" in message
    assert "aten.trace.default" in hint
