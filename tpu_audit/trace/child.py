"""The child of the torch_tpu tracer: reads a request on stdin, prints one line of JSON."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from typing import Any

from op_registry.build.device import initialise
from tpu_audit.types.errors import NotAuditedError, Stage, shorten
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import TraceSettings


def main() -> None:
    """Answer one request; never raises for a model that cannot be traced."""
    request = json.load(sys.stdin)
    with contextlib.redirect_stdout(io.StringIO()):
        answer = _answer(request)
    sys.stdout.write("\n" + json.dumps(answer) + "\n")


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        initialise()
        import transformers  # noqa: F401 - its absence is answered before the tracer needs it
    except ImportError as error:
        return {"missing": error.name or str(error)}
    from tpu_audit.trace.codec import encode_trace
    from tpu_audit.trace.runner import trace_on_device

    spec = ModelSpec(**request["spec"])
    settings = TraceSettings(**request["settings"])
    try:
        traces = trace_on_device(spec, settings, request["registry"])
        return {"traces": [encode_trace(trace) for trace in traces]}
    except NotAuditedError as error:
        return {"error": error.fields()}
    except Exception as error:  # noqa: BLE001 - the parent reports it
        internal = NotAuditedError(shorten(error), stage=Stage.TRACE, code="internal")
        return {"error": internal.fields()}
