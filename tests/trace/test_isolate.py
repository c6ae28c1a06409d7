"""Isolated traces: whatever the model does, the parent gets a trace or a clear error."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.calls import snapshot
from tests.trace.test_cache import trace
from tpu_audit.trace import isolate
from tpu_audit.trace.isolate import trace_isolated
from tpu_audit.types.errors import NotAuditedError, Stage, TpuAuditError
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import Trace, TraceSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Tracer = Callable[[ModelSpec, TraceSettings, Any], Trace]
    Run = Callable[..., Trace]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the stub reaches forks only")
SPEC = ModelSpec(target="t", id="t", revision=None, config_source="local", config={})


@pytest.fixture(name="run")
def _run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Trace with a stub in place of the tracer, and nothing heavy imported."""
    monkeypatch.setattr(isolate, "preload", lambda _: None)

    def run(tracer: Tracer, *, timeout_s: float = 20.0, memory_mb: int = 512) -> Trace:
        stub = ModuleType("tpu_audit.trace.runner")
        vars(stub)["run_trace"] = lambda *given: (tracer(*given),)
        monkeypatch.setitem(sys.modules, "tpu_audit.trace.runner", stub)
        settings = TraceSettings(timeout_s=timeout_s, memory_mb=memory_mb)
        return trace_isolated(SPEC, settings, snapshot())[0]

    return run


def failing(run: Run, tracer: Tracer, **limits: Any) -> NotAuditedError:
    """Return the error that a trace ends in."""
    with pytest.raises(NotAuditedError) as caught:
        run(tracer, **limits)
    return caught.value


def test_the_trace_comes_back(run: Run) -> None:
    """A trace crosses the process boundary unchanged, a large one too."""
    assert run(lambda *_: trace(2000)) == trace(2000)


def test_it_runs_in_another_process(run: Run, tmp_path: Path) -> None:
    """What the tracer does to its process does not reach the parent."""
    seen = tmp_path / "pid"

    def tracer(*_: object) -> Trace:
        seen.write_text(str(os.getpid()))
        return trace()

    run(tracer)
    assert int(seen.read_text()) != os.getpid()


def test_the_tracers_own_error_is_kept(run: Run) -> None:
    """Message, stage, code, hint and skip pass through."""

    def tracer(*_: object) -> Trace:
        raise NotAuditedError(
            "no class X", stage=Stage.BUILD, code="remote_code", skipped=True, hint="h"
        )

    error = failing(run, tracer)
    assert (error.message, error.stage, error.code) == ("no class X", Stage.BUILD, "remote_code")
    assert (error.skipped, error.hint) == (True, "h")


def test_an_installation_error_is_no_targets_fault(run: Run) -> None:
    """An error of the installation is raised as such."""

    def tracer(*_: object) -> Trace:
        raise TpuAuditError("this torch has no backend registration", hint="install another")

    with pytest.raises(TpuAuditError, match="no backend") as caught:
        run(tracer)
    assert not isinstance(caught.value, NotAuditedError)


def test_an_unforeseen_error_is_internal(run: Run) -> None:
    """Any other exception is reported by type and shortened message."""

    def tracer(*_: object) -> Trace:
        raise ZeroDivisionError("x" * 5000)

    error = failing(run, tracer)
    assert (error.stage, error.code) == (Stage.TRACE, "internal")
    assert "ZeroDivisionError" in error.message
    assert len(error.message) < 400


def test_recursion_without_end(run: Run) -> None:
    """A model that recurses for ever ends as an error, not as a crash of the scan."""

    def tracer(*args: Any) -> Trace:
        return tracer(*args)

    assert "RecursionError" in failing(run, tracer).message


def test_a_hang_is_a_timeout(run: Run) -> None:
    """A child that sleeps is killed when its time is over."""

    def tracer(*_: object) -> Trace:
        time.sleep(60)
        return trace()

    began = time.monotonic()
    error = failing(run, tracer, timeout_s=0.3)
    assert error.code == "timeout"
    assert "0.3 s" in error.message
    assert time.monotonic() - began < 5


def test_a_crash_is_named(run: Run) -> None:
    """A segfault in native code costs this trace only, and its signal is named."""

    def tracer(*_: object) -> Trace:
        ctypes.string_at(0)
        return trace()

    error = failing(run, tracer)
    assert error.code == "crash"
    assert "SIGSEGV" in error.message


def test_a_silent_exit_is_a_crash(run: Run) -> None:
    """Model code that calls exit gives no answer, and the exit code is told."""

    def tracer(*_: object) -> Trace:
        os._exit(7)

    error = failing(run, tracer)
    assert error.code == "crash"
    assert "exit code 7" in error.message


def test_sys_exit_is_a_crash(run: Run) -> None:
    """SystemExit in model code does not pass for an answer."""

    def tracer(*_: object) -> Trace:
        sys.exit(0)

    assert failing(run, tracer).code == "crash"


def test_memory_is_bounded(run: Run) -> None:
    """Asking for more than the limit fails inside the child, with the limit in the sentence."""

    def tracer(*_: object) -> Trace:
        bytearray(2**30)
        return trace()

    error = failing(run, tracer, memory_mb=256)
    assert error.code == "memory"
    assert "256 MiB" in error.message


def test_torchs_memory_error_is_recognised(run: Run) -> None:
    """Torch reports memory as a RuntimeError, which the tracer wraps: still code memory."""

    def tracer(*_: object) -> Trace:
        torchs = RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried 9 bytes")
        raise NotAuditedError("forward", stage=Stage.TRACE, code="forward_failed") from torchs

    assert failing(run, tracer).code == "memory"


def test_the_system_killing_it_is_memory(run: Run) -> None:
    """SIGKILL from outside is what the out-of-memory killer sends."""

    def tracer(*_: object) -> Trace:
        os.kill(os.getpid(), signal.SIGKILL)
        return trace()

    assert failing(run, tracer).code == "memory"


def test_the_child_is_silent(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    """Prints, warnings and writes of native code go nowhere."""

    def tracer(*_: object) -> Trace:
        print("python")  # noqa: T201 - what model code does
        sys.stderr.write("err")
        os.write(1, b"native")
        os.write(2, b"native")
        return trace()

    run(tracer)
    assert capfd.readouterr() == ("", "")


def test_an_interrupt_kills_the_child(run: Run, tmp_path: Path) -> None:
    """Ctrl-C ends the wait at once, and no process stays behind."""
    seen = tmp_path / "pid"

    def tracer(*_: object) -> Trace:
        seen.write_text(str(os.getpid()))
        time.sleep(60)
        return trace()

    def interrupt() -> None:
        while not seen.exists() or not seen.read_text():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    began = time.monotonic()
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run(tracer)
    thread.join()
    assert time.monotonic() - began < 5
    with pytest.raises(ProcessLookupError):
        os.kill(int(seen.read_text()), 0)


def test_the_parents_environment_is_restored(run: Run) -> None:
    """Variables set for torch and transformers do not stay in the caller's process."""
    before = dict(os.environ)
    run(lambda *_: trace())
    assert dict(os.environ) == before


def test_a_real_model() -> None:
    """The real tracer, in a child: a small BERT traced to its known parameter count."""
    pytest.importorskip("transformers")
    from op_registry import loader

    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "vocab_size": 100,
    }
    spec = ModelSpec(target="t", id="t", revision=None, config_source="local", config=config)
    (found,) = trace_isolated(spec, TraceSettings(seq_len=8), loader.load(None))
    embeddings = (100 + 512 + 2) * 32 + 2 * 32
    layer = 4 * (32 * 32 + 32) + 2 * 32 + (32 * 64 + 64) + (64 * 32 + 32) + 2 * 32
    pooler = 32 * 32 + 32
    assert found.parameters == embeddings + layer + pooler
    assert "aten.linear.default" in {use.op for use in found.ops}
