"""The child of the torch_tpu tracer: each way it can fail has its own outcome."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.wheel import PYTHON, needs_wheel
from tpu_audit.trace.codec import decode_trace, encode_trace
from tpu_audit.trace.oracle import run_trace_torch_tpu
from tpu_audit.trace.runner import run_trace
from tpu_audit.types.errors import NotAuditedError, Stage, UsageError
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import TraceSettings

if TYPE_CHECKING:
    from pathlib import Path

    from op_registry.schema import Snapshot

SETTINGS = TraceSettings(seq_len=8)


def spec(**config: object) -> ModelSpec:
    """Make a spec of a small BERT, with changes."""
    small = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": 32,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "num_hidden_layers": 1,
        **config,
    }
    return ModelSpec(target="x", id="x", revision=None, config_source="local", config=small)


def interpreter(folder: Path, body: str) -> str:
    """Write a program that stands in for Python."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_no_such_interpreter() -> None:
    """A wrong path is a usage error that names it."""
    with pytest.raises(UsageError, match="/no/such/python"):
        run_trace_torch_tpu(spec(), SETTINGS, "", "/no/such/python")


def test_interpreter_without_the_wheel() -> None:
    """An environment without torch-tpu is a usage error that says what it lacks."""
    with pytest.raises(UsageError, match="has no torch_tpu"):
        run_trace_torch_tpu(spec(), SETTINGS, "", sys.executable)


def test_child_that_dies(tmp_path: Path) -> None:
    """A child that ends without an answer costs this trace, and its last words are shown."""
    python = interpreter(tmp_path, "echo 'F0000 bad library' >&2; exit 3")
    with pytest.raises(NotAuditedError, match="status 3: F0000 bad library") as error:
        run_trace_torch_tpu(spec(), SETTINGS, "", python)
    assert (error.value.stage, error.value.code) == (Stage.TRACE, "crash")


def test_child_that_hangs(tmp_path: Path) -> None:
    """A child that takes too long is ended."""
    python = interpreter(tmp_path, "exec sleep 60")
    settings = dataclasses.replace(SETTINGS, timeout_s=0.2)
    with pytest.raises(NotAuditedError) as error:
        run_trace_torch_tpu(spec(), settings, "", python)
    assert error.value.code == "timeout"


@needs_wheel
@pytest.mark.tpu
def test_wheel_gives_the_same_trace(pretended: str, snapshot: Snapshot) -> None:
    """From end to end the two tracers return equal traces."""
    assert pretended == "tpu"
    (real,) = run_trace_torch_tpu(spec(), SETTINGS, snapshot.digest, PYTHON)
    (pretended_one,) = run_trace(spec(), SETTINGS, snapshot)

    assert real.ops
    assert real.parameters == pretended_one.parameters
    assert sorted(real.ops, key=repr) == sorted(pretended_one.ops, key=repr)


@needs_wheel
@pytest.mark.tpu
def test_wheel_passes_on_the_outcome() -> None:
    """A model that cannot be built fails with the same stage and code as in this process."""
    with pytest.raises(NotAuditedError) as error:
        run_trace_torch_tpu(spec(architectures=["NoSuchModel"]), SETTINGS, "", PYTHON)
    assert (error.value.stage, error.value.code) == (Stage.BUILD, "unknown_architecture")


def test_codec_keeps_every_field(pretended: str, snapshot: Snapshot) -> None:
    """A trace survives being written and read."""
    assert pretended == "tpu"
    (trace,) = run_trace(spec(), SETTINGS, snapshot)

    assert decode_trace(encode_trace(trace)) == trace
