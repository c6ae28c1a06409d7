"""The tracer in a process of its own Python: another environment, or a confined process."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import hostile
from tests.support.calls import snapshot as made_snapshot
from tests.support.confined import needs_confinement
from tpu_audit.sources.own import resolve_factory
from tpu_audit.trace import child, elsewhere
from tpu_audit.trace.elsewhere import Worker, compile_elsewhere, trace_elsewhere
from tpu_audit.trace.runner import run_trace
from tpu_audit.types.errors import NotAuditedError, Stage, TpuAuditError, UsageError
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import Trace, TraceSettings

if TYPE_CHECKING:
    from op_registry.schema import Snapshot

DATA = Path(__file__).parents[1] / "data"
REPOSITORY = DATA / "own_code"
"""A small model whose classes are its repository's own."""
SETTINGS = TraceSettings(seq_len=8)
BERT: dict[str, Any] = {
    "architectures": ["BertModel"],
    "model_type": "bert",
    "hidden_size": 32,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
}


def spec(config: dict[str, Any], code: dict[str, str] | None = None) -> ModelSpec:
    """Return the spec of a repository."""
    return ModelSpec(
        target="x",
        id="x",
        revision=None,
        config_source="local",
        config=config,
        code_files=code or {},
    )


def stand_in(folder: Path, answer: str) -> Worker:
    """Write a program that stands in for Python and always gives ``answer``."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\necho '{answer}'\n")
    path.chmod(0o755)
    return Worker(python=str(path), option="--python")


def failing(worker: Worker) -> TpuAuditError:
    """Return the error that a trace ends in."""
    with pytest.raises(TpuAuditError) as caught:
        trace_elsewhere(spec(BERT), SETTINGS, made_snapshot(), worker)
    return caught.value


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ('{"missing": "torch"}', "has no torch"),
        ('{"unfit": "torch 2.6.0"}', "has torch 2.6.0, which cannot trace"),
        ('{"unfit": "Python 3.9"}', "has Python 3.9, which cannot trace"),
    ],
)
def test_an_environment_that_cannot_serve(tmp_path: Path, answer: str, says: str) -> None:
    """What it has is named, and what is needed, as a usage error."""
    error = failing(stand_in(tmp_path, answer))

    assert isinstance(error, UsageError)
    assert says in error.message
    assert error.hint is not None
    assert "--python PATH" in error.hint


def test_no_such_interpreter() -> None:
    """A wrong path is a usage error that names it."""
    error = failing(Worker(python="/no/such/python"))
    assert isinstance(error, UsageError)
    assert "/no/such/python" in error.message


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "nonsense",
        "[]",
        '{"traces": [{"ops": 3}]}',
        '{"traces": 3}',
        "{}",
        '{"error": {"x": 1}}',
    ],
)
def test_answers_that_are_none(tmp_path: Path, answer: str) -> None:
    """Whatever a process says instead of a trace costs that trace, never the scan."""
    error = failing(stand_in(tmp_path, answer))

    assert isinstance(error, NotAuditedError)
    assert (error.stage, error.code) == (Stage.TRACE, "crash")


def test_where_nothing_confines(tmp_path: Path) -> None:
    """Without confinement the code is not run, and the error says why."""
    error = failing(stand_in(tmp_path, '{"unconfined": "no namespaces of its own"}'))

    assert isinstance(error, NotAuditedError)
    assert error.code == "no_confinement"
    assert "was not run" in error.message
    assert "no namespaces of its own" in error.message


@needs_confinement
def test_a_system_that_forbids_namespaces(tmp_path: Path, snapshot: Snapshot) -> None:
    """Where the kernel refuses them, the child says so and runs nothing of the repository."""
    forbid = "echo 0 > /proc/sys/user/max_user_namespaces"
    python = tmp_path / "python"
    python.write_text(
        f"#!/bin/sh\nexec unshare -Ur /bin/sh -c '{forbid} && exec \"$@\"' sh "
        f'{sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    settings = dataclasses.replace(SETTINGS, remote_code=True)
    worker = Worker(python=str(python), confined=True)
    with pytest.raises(NotAuditedError) as caught:
        trace_elsewhere(own(tmp_path), settings, snapshot, worker)

    assert caught.value.code == "no_confinement"
    assert "no namespaces of its own" in caught.value.message


def test_an_old_python_is_told_of_by_itself() -> None:
    """The first lines run in any Python 3 and say which it is."""
    script = f"import sys\nsys.version_info = (3, 9, 1)\n{elsewhere._BOOTSTRAP}"
    done = subprocess.run(
        [sys.executable, "-c", script, "/nowhere"], capture_output=True, text=True, check=True
    )
    assert done.stdout == '{"unfit": "Python 3.9"}'


def test_an_old_torch_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torch without backends in Python cannot serve, whatever else it has."""
    import torch
    from torch.utils import backend_registration

    request = {"work": "trace", "spec": {"factory": None}}
    assert child._cannot_serve(request) is None
    monkeypatch.delattr(backend_registration, "_setup_privateuseone_for_python_backend")
    assert child._cannot_serve(request) == {"unfit": f"torch {torch.__version__}"}


def test_programs_do_without_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only models need it; a program may bring an environment without."""
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert child._cannot_serve({"work": "trace", "spec": {"factory": ["m", "f"]}}) is None
    lacking = child._cannot_serve({"work": "trace", "spec": {"factory": None}})
    assert lacking == {"missing": "transformers"}


def test_the_same_trace(pretended: str, snapshot: Snapshot) -> None:
    """Another process of the same environment gives the trace of this one."""
    assert pretended == "tpu"
    (there,) = trace_elsewhere(spec(BERT), SETTINGS, snapshot, Worker(python=sys.executable))
    (here,) = run_trace(spec(BERT), SETTINGS, snapshot)

    assert there == here


def test_a_program_of_the_user_s_own(snapshot: Snapshot) -> None:
    """A function runs in the other interpreter, with its own lines in the trace."""
    program = resolve_factory("x", str(DATA / "own" / "programs.py"), "detection_loss")
    (trace,) = trace_elsewhere(program, SETTINGS, snapshot, Worker(python=sys.executable))

    assert "aten.smooth_l1_loss.default" in {use.op for use in trace.ops}
    assert "programs.py" in {source.path for use in trace.ops for source in use.sources}


def test_compiled_there(snapshot: Snapshot) -> None:
    """A compilation comes back from there as well."""
    (compiled,) = compile_elsewhere(spec(BERT), SETTINGS, snapshot, Worker(python=sys.executable))
    assert (compiled.graphs, compiled.breaks) == (1, ())


def own(folder: Path, extra: str = "") -> ModelSpec:
    """Return the spec of the repository with ``extra`` before the code of its model."""
    home = folder / "repository"
    shutil.copytree(REPOSITORY, home)
    model = home / "modeling_tiny.py"
    model.write_text(f"{extra}\n{model.read_text()}")
    code = {path.name: str(path) for path in sorted(home.glob("*.py"))}
    return spec(json.loads((home / "config.json").read_text()), code)


def run_own(one: ModelSpec, snapshot: Snapshot, **limits: Any) -> Trace:
    """Trace with the repository's own code."""
    settings = dataclasses.replace(SETTINGS, remote_code=True, **limits)
    worker = Worker(python=sys.executable, confined=True)
    return trace_elsewhere(one, settings, snapshot, worker)[0]


@needs_confinement
def test_own_code_is_traced(tmp_path: Path, snapshot: Snapshot) -> None:
    """The repository's class is built and run, and calls are placed in its own files."""
    trace = run_own(own(tmp_path), snapshot)

    assert trace.architecture == "TinyForCausalLM"
    assert any("ran the repository's own code" in a for a in trace.assumptions)
    (mish,) = [use for use in trace.ops if use.op == "aten.mish.default"]
    assert mish.count == 2
    assert [source.path for source in mish.sources] == ["modeling_tiny.py"]


@needs_confinement
def test_own_code_reaches_nothing(
    tmp_path: Path, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it tries while it is imported, it gets a scratch folder and threads."""
    monkeypatch.setenv("HF_TOKEN", hostile.SECRET)
    home = tmp_path / "home"
    home.mkdir()
    (home / "token").write_text(hostile.SECRET)
    asks = (
        "from .hostile import succeeded\n"
        f"raise RuntimeError('got ' + ', '.join(sorted(succeeded(1, {str(home)!r}))))"
    )
    one = own(tmp_path, asks)
    code = {**one.code_files, "hostile.py": hostile.__file__}
    with pytest.raises(NotAuditedError) as caught:
        run_own(dataclasses.replace(one, code_files=code), snapshot)

    assert caught.value.code == "code_failed"
    assert caught.value.message.endswith("got " + ", ".join(sorted(hostile.ALLOWED)))
    assert [path.name for path in home.iterdir()] == ["token"]


@needs_confinement
def test_own_code_that_takes_memory(tmp_path: Path, snapshot: Snapshot) -> None:
    """More memory than allowed ends the trace with the code for it."""
    with pytest.raises(NotAuditedError) as caught:
        run_own(own(tmp_path, "x = bytearray(2**31)"), snapshot, memory_mb=512)
    assert caught.value.code == "memory"


@needs_confinement
def test_own_code_that_never_ends(tmp_path: Path, snapshot: Snapshot) -> None:
    """A loop for ever is ended in time, and nothing of it stays behind."""
    one = own(tmp_path, "while True: pass")
    begun = time.monotonic()
    with pytest.raises(NotAuditedError) as caught:
        run_own(one, snapshot, timeout_s=12)

    assert caught.value.code == "timeout"
    assert time.monotonic() - begun < 30
    time.sleep(0.5)
    assert [p for p in Path("/proc").glob("[0-9]*/cmdline") if _is_worker(p)] == []


def _is_worker(path: Path) -> bool:
    try:
        return f"{tempfile.gettempdir()}/tpu-audit-".encode() in path.read_bytes()
    except OSError:
        return False
