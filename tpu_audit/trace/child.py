"""The tracing process of another interpreter: reads a request on stdin, prints one line of JSON.

It loads nothing but the standard library, torch, transformers and what the model itself needs.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from op_registry import codec as snapshots
from op_registry.build.device import initialise
from tpu_audit.trace.confinement import HOME, ConfinementError, confine
from tpu_audit.trace.endings import explained
from tpu_audit.trace.limits import bound_process
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import TraceSettings

CODE = f"{HOME}/transformers_modules/repository"
"""Where a confined process finds the repository's code: below the package that transformers itself
puts such code into, by which it knows it."""

Answer = dict[str, Any]


def main() -> None:
    """Answer one request; never raises for a model that cannot be traced."""
    request = json.load(sys.stdin)
    try:
        if request.get("confined"):
            _shut_in(request)
    except ConfinementError as error:
        _say({"unconfined": str(error)})
        return
    with contextlib.redirect_stdout(io.StringIO()):
        answer = _cannot_serve(request) or _answer(request)
    _say(answer)


def _say(answer: Answer) -> None:
    sys.stdout.write("\n" + json.dumps(answer) + "\n")
    sys.stdout.flush()
    # No exit handlers: they may be the model's.
    os._exit(0)


def _shut_in(request: Answer) -> None:
    """Confine this process, and put the repository's code where it will be looked for."""
    root, folder = sys.argv[1:3]
    confine(folder, [f"{root}/{name}" for name in ("op_registry", "tpu_audit")])
    for name, text in request["code"].items():
        path = Path(CODE, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("latin-1"))
    request["spec"]["code_files"] = {name: f"{CODE}/{name}" for name in request["code"]}


def _cannot_serve(request: Answer) -> Answer | None:
    """Say what this interpreter lacks; None where it can trace."""
    try:
        if request["work"] == "torch_tpu":
            initialise()
        import torch
        from torch.utils import backend_registration

        if not request["spec"]["factory"]:
            import transformers  # noqa: F401 - its absence is answered before a trace needs it
    except ImportError as error:
        return {"missing": error.name or str(error)}
    if not hasattr(backend_registration, "_setup_privateuseone_for_python_backend"):
        return {"unfit": f"torch {torch.__version__}"}
    return None


def _answer(request: Answer) -> Answer:
    spec = ModelSpec(**request["spec"])
    settings = TraceSettings(**request["settings"])
    try:
        return {"traces": _work(request, spec, settings)}
    except Exception as error:  # noqa: BLE001 - the parent reports it
        return {"error": explained(error, settings).fields()}


def _work(request: Answer, spec: ModelSpec, settings: TraceSettings) -> list[Answer]:
    """Do what was asked for, within bounds that the imports do not count against."""
    from tpu_audit.trace.codec import encode_trace
    from tpu_audit.trace.compiling.codec import encode_compiled
    from tpu_audit.trace.runner import run_trace, trace_on_device

    if not spec.factory:
        import_module("transformers.modeling_utils")
    if request["work"] == "torch_tpu":
        return [encode_trace(t) for t in trace_on_device(spec, settings, request["registry"])]
    bound_process(settings)
    data = request["snapshot"].encode()
    registry = snapshots.decode(data, origin="the registry", canonical=True)
    if request["work"] == "trace":
        return [encode_trace(trace) for trace in run_trace(spec, settings, registry)]
    from tpu_audit.trace.compiling.runner import run_compile

    return [encode_compiled(one) for one in run_compile(spec, settings, registry)]
