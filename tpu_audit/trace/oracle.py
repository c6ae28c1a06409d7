"""The second tracer: the same recorder above the real wheel's dispatcher, in a child process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from op_registry.build.device import NO_TPU
from tpu_audit.trace.codec import decode_trace
from tpu_audit.types.errors import NotAuditedError, Stage, UsageError

if TYPE_CHECKING:
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import Trace, TraceSettings

CHILD_ENVIRONMENT = {
    **NO_TPU,
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    "TRANSFORMERS_VERBOSITY": "error",
    "HF_HUB_OFFLINE": "1",
}
# The other interpreter need not have this tool installed: its two packages are loaded from here,
# by path, so that nothing else of this environment leaks into that one.
_BOOTSTRAP = """
import importlib.util, sys
root = sys.argv[1]
for name in ("op_registry", "tpu_audit"):
    spec = importlib.util.spec_from_file_location(
        name, f"{root}/{name}/__init__.py", submodule_search_locations=[f"{root}/{name}"])
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
from tpu_audit.trace.child import main
main()
"""


def run_trace_torch_tpu(
    spec: ModelSpec, settings: TraceSettings, registry_digest: str, python: str | None = None
) -> tuple[Trace, ...]:
    """Trace ``spec`` with the torch_tpu of ``python`` (default: this interpreter).

    Raises UsageError when that interpreter lacks torch-tpu or transformers, NotAuditedError when
    the model cannot be traced or the child crashes or takes longer than ``settings.timeout_s``.
    """
    request = {"spec": asdict(spec), "settings": asdict(settings), "registry": registry_digest}
    interpreter = python or sys.executable
    root = str(Path(__file__).resolve().parents[2])
    try:
        done = subprocess.run(
            [interpreter, "-c", _BOOTSTRAP, root],
            input=json.dumps(request, default=dict),
            env={**os.environ, **CHILD_ENVIRONMENT},
            capture_output=True,
            text=True,
            check=False,
            timeout=settings.timeout_s,
        )
    except subprocess.TimeoutExpired as error:
        raise NotAuditedError(
            f"the torch_tpu tracer took longer than {settings.timeout_s:g} s",
            stage=Stage.TRACE,
            code="timeout",
            hint="raise --timeout",
        ) from error
    except OSError as error:
        raise UsageError(
            f"cannot run {interpreter}: {error.strerror}", hint="name an interpreter: --tpu-python"
        ) from error
    return _answer(done, interpreter)


def _answer(done: subprocess.CompletedProcess[str], interpreter: str) -> tuple[Trace, ...]:
    try:
        answer: dict[str, Any] = json.loads(done.stdout.rstrip().rpartition("\n")[2])
    except ValueError as error:
        tail = " ".join(done.stderr.split())[-300:]
        raise NotAuditedError(
            f"the torch_tpu tracer died with status {done.returncode}: {tail}",
            stage=Stage.TRACE,
            code="crash",
        ) from error
    if "missing" in answer:
        raise UsageError(
            f"{interpreter} has no {answer['missing']}",
            hint="name an environment with torch-tpu and transformers: --tpu-python PATH",
        )
    if "error" in answer:
        fields = answer["error"]
        fields["stage"] = Stage(fields["stage"])
        raise NotAuditedError(fields.pop("message"), **fields)
    return tuple(decode_trace(trace) for trace in answer["traces"])
