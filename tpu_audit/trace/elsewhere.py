"""Starts the tracer in a process of its own Python: another environment, or a confined process.

The other interpreter need not have this tool installed: its two packages are loaded from here, by
path, so that nothing else of this environment leaks into that one. Request and answer are JSON;
nothing that comes back is executed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from op_registry import codec as snapshots
from op_registry.build.device import NO_TPU
from tpu_audit.trace import endings
from tpu_audit.trace.codec import decode_trace
from tpu_audit.trace.compiling.codec import decode_compiled
from tpu_audit.trace.confinement import SHELL
from tpu_audit.trace.confinement import environment as confined_environment
from tpu_audit.types.errors import NotAuditedError, Stage, TpuAuditError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from op_registry.schema import Snapshot
    from tpu_audit.types.compiled import CompileTrace
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import Trace, TraceSettings

CHILD_ENVIRONMENT = {
    **NO_TPU,
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    "TRANSFORMERS_VERBOSITY": "error",
    "HF_HUB_OFFLINE": "1",
}
# What an old Python could not even read comes after the question how old it is.
_BOOTSTRAP = """
import sys
if sys.version_info < (3, 11):
    sys.stdout.write('{"unfit": "Python %d.%d"}' % sys.version_info[:2])
    sys.exit()
import importlib.util
root = sys.argv[1]
for name in ("op_registry", "tpu_audit"):
    spec = importlib.util.spec_from_file_location(
        name, f"{root}/{name}/__init__.py", submodule_search_locations=[f"{root}/{name}"])
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
from tpu_audit.trace.child import main
main()
"""
_ROOT = str(Path(__file__).resolve().parents[2])
_NEEDED = "Python 3.11 or newer, and torch 2.13 or 2.14"

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Worker:
    """Which interpreter traces, and how it is held."""

    python: str
    option: str | None = None
    """The option that names the interpreter: ``--python``; None where none was named."""
    packages: str = "torch and transformers"
    """What an environment needs that could serve."""
    confined: bool = False
    """It runs code of a repository's own."""


def trace_elsewhere(
    spec: ModelSpec, settings: TraceSettings, registry: Snapshot, worker: Worker
) -> tuple[Trace, ...]:
    """Trace ``spec`` on the pretended TPU in a process of ``worker``'s interpreter.

    Returns the phase that ``settings`` name first, then others that the same run showed. Raises
    UsageError when that interpreter cannot serve, else as
    :func:`tpu_audit.trace.isolate.trace_isolated` does; NotAuditedError with code
    ``no_confinement`` where the process must be confined and the system does not let it.
    """
    request = _request("trace", spec, settings, registry, worker)
    return ask(request, settings, worker, decode_trace)


def compile_elsewhere(
    spec: ModelSpec, settings: TraceSettings, registry: Snapshot, worker: Worker
) -> tuple[CompileTrace, ...]:
    """Compile ``spec`` with Dynamo there; returns and raises as :func:`trace_elsewhere`."""
    request = _request("compile", spec, settings, registry, worker)
    return ask(request, settings, worker, decode_compiled)


def _request(
    work: str, spec: ModelSpec, settings: TraceSettings, registry: Snapshot, worker: Worker
) -> dict[str, Any]:
    return {
        "work": work,
        "spec": asdict(spec),
        "settings": asdict(settings),
        "snapshot": _written(registry),
        "confined": worker.confined,
        "code": _code(spec) if settings.remote_code else {},
    }


_texts: dict[str, str] = {}


def _written(registry: Snapshot) -> str:
    """Return ``registry`` as text; written once, for that takes longer than many a trace."""
    if registry.digest not in _texts:
        _texts[registry.digest] = snapshots.encode(registry).decode()
    return _texts[registry.digest]


def _code(spec: ModelSpec) -> dict[str, str]:
    """Return the repository's code; latin-1 keeps every byte, whatever the files are written in."""
    try:
        files = {name: Path(path).read_bytes() for name, path in spec.code_files.items()}
    except OSError as error:
        raise NotAuditedError(
            f"the repository's code cannot be read: {error}", stage=Stage.BUILD, code="no_code"
        ) from error
    return {name: data.decode("latin-1") for name, data in files.items()}


def ask(
    request: Mapping[str, Any],
    settings: TraceSettings,
    worker: Worker,
    decode: Callable[[dict[str, Any]], T],
) -> tuple[T, ...]:
    """Send ``request`` to a new process of ``worker``; return what it answers with, decoded."""
    text = json.dumps(request, default=dict).encode()
    with (
        tempfile.TemporaryDirectory(prefix="tpu-audit-") as folder,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        code = _run(text, settings, worker, folder, out, err)
        answer = _last_line(out)
        if answer is None:
            raise _died(code, err, settings)
    results = _results_in(answer, worker)
    try:
        return tuple(map(decode, results))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        # A confined process may say anything.
        raise _unreadable(error) from error


def _run(
    request: bytes,
    settings: TraceSettings,
    worker: Worker,
    folder: str,
    out: IO[bytes],
    err: IO[bytes],
) -> int:
    """Run the child; ``folder`` is empty and its own. Its output goes to files, which it bounds."""
    confined = worker.confined
    flags = ["-P"] if confined else []  # the folder one stands in is not its business
    try:
        done = subprocess.run(
            [worker.python, *flags, "-c", _BOOTSTRAP, _ROOT, folder],
            input=request,
            stdout=out,
            stderr=err,
            env=confined_environment() if confined else {**os.environ, **CHILD_ENVIRONMENT},
            check=False,
            timeout=settings.timeout_s,
            start_new_session=confined,
        )
    except subprocess.TimeoutExpired as error:
        raise endings.timeout(settings) from error
    except OSError as error:
        raise UsageError(
            f"cannot run {worker.python}: {error.strerror}",
            hint=f"name an interpreter: {worker.option or '--python'}",
        ) from error
    return done.returncode


def _last_line(out: IO[bytes]) -> dict[str, Any] | None:
    out.seek(0)
    try:
        answer = json.loads(out.read().rstrip().rpartition(b"\n")[2])
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def _died(code: int, err: IO[bytes], settings: TraceSettings) -> NotAuditedError:
    err.seek(0)
    words = " ".join(err.read().decode(errors="replace").split())[-300:]
    by_signal = SHELL - code if SHELL < code < SHELL + signal.NSIG else code
    if by_signal < 0 or not words:
        return endings.died(by_signal, settings)
    return NotAuditedError(
        f"the tracing process died with status {code}: {words}", stage=Stage.TRACE, code="crash"
    )


def _results_in(answer: dict[str, Any], worker: Worker) -> Any:
    """Return what ``answer`` holds, or raise what it tells of."""
    if "missing" in answer or "unfit" in answer:
        raise _cannot_serve(answer, worker)
    if "unconfined" in answer:
        raise NotAuditedError(
            "the repository's code was not run: this system does not let a process be confined "
            f"({answer['unconfined']})",
            stage=Stage.BUILD,
            code="no_confinement",
            hint="Linux with user namespaces for this user is needed: containers often forbid them",
        )
    if "error" in answer:
        raise _told(answer["error"])
    return answer.get("traces")


def _cannot_serve(answer: dict[str, Any], worker: Worker) -> UsageError:
    option = worker.option or "--python"
    if "missing" in answer:
        return UsageError(
            f"{worker.python} has no {answer['missing']}",
            hint=f"name an environment with {worker.packages}: {option} PATH",
        )
    return UsageError(
        f"{worker.python} has {answer['unfit']}, which cannot trace",
        hint=f"name an environment with {_NEEDED}: {option} PATH",
    )


def _told(fields: Any) -> TpuAuditError:
    """Return the error that the child describes."""
    if not (isinstance(fields, dict) and isinstance(fields.get("message"), str)):
        return _unreadable(TypeError("an error without words"))
    try:
        if "stage" in fields:
            return NotAuditedError(**{**fields, "stage": Stage(fields["stage"])})
        return TpuAuditError(**fields)
    except (TypeError, ValueError) as error:
        return _unreadable(error)


def _unreadable(error: Exception) -> NotAuditedError:
    return NotAuditedError(
        f"the tracing process answered with something else than a trace: {error}",
        stage=Stage.TRACE,
        code="crash",
    )
