"""The second tracer: the same recorder above the real wheel's dispatcher, in a child process."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from tpu_audit.trace.codec import decode_trace
from tpu_audit.trace.elsewhere import CHILD_ENVIRONMENT, Worker, ask

if TYPE_CHECKING:
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import Trace, TraceSettings

__all__ = ["CHILD_ENVIRONMENT", "run_trace_torch_tpu"]


def run_trace_torch_tpu(
    spec: ModelSpec, settings: TraceSettings, registry_digest: str, python: str | None = None
) -> tuple[Trace, ...]:
    """Trace ``spec`` with the torch_tpu of ``python`` (default: this interpreter).

    Raises UsageError when that interpreter lacks torch-tpu or transformers, NotAuditedError when
    the model cannot be traced or the child crashes or takes longer than ``settings.timeout_s``.
    """
    request = {
        "work": "torch_tpu",
        "spec": asdict(spec),
        "settings": asdict(settings),
        "registry": registry_digest,
    }
    worker = Worker(
        python=python or sys.executable,
        option="--tpu-python",
        packages="torch-tpu and transformers",
    )
    return ask(request, settings, worker, decode_trace)
