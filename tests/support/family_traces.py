"""Traces models in every phase but training on one device, many in one process.

``python family_traces.py pretended|torch_tpu``. Each line of stdin is a model, a JSON list of
configs to try in turn: ``spec`` and ``dtype``. Answers each with one line of JSON: ``chosen``
(number of the config with which the forward pass was traced), ``phases`` (phase -> role and op
overload -> calls) and ``errors`` (phase -> why it was not traced).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.device import take_device
from tpu_audit.trace.runner import trace_on_device
from tpu_audit.types.errors import NotAuditedError, shorten
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import Trace, TraceSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

SEQ_LEN = 32
PATIENCE_S = 90
"""Seconds that one run of a model may take."""

Answer = dict[str, Any]


class HungError(BaseException):
    """A run outlived its limit. Not an Exception, so that nothing on the way swallows it."""


def answer(tries: list[Answer]) -> Answer:
    """Trace with the first config that goes through a forward pass; else tell of the last."""
    errors: dict[str, str] = {}
    for number, one in enumerate(tries):
        errors = {}
        forward = _run(one, "forward", errors)
        if forward:
            traces = list(forward)
            if "prefill" in forward[0].applies:
                traces += _run(one, "prefill", errors)
            phases = {trace.settings.phase: _counts(trace) for trace in traces}
            return {"chosen": number, "phases": phases, "errors": errors}
    return {"chosen": None, "phases": {}, "errors": errors}


def _run(one: Answer, phase: str, errors: dict[str, str]) -> tuple[Trace, ...]:
    settings = TraceSettings(phase=phase, dtype=one["dtype"], seq_len=SEQ_LEN)
    try:
        with _patience():
            return trace_on_device(ModelSpec(**one["spec"]), settings, "")
    except NotAuditedError as error:
        errors[phase] = f"{error.stage}: {error.message}"
    except HungError:
        errors[phase] = f"ran longer than {PATIENCE_S} s"
    except Exception as error:  # noqa: BLE001 - whatever a model does on a device
        errors[phase] = shorten(error)
    return ()


@contextlib.contextmanager
def _patience() -> Iterator[None]:
    signal.signal(signal.SIGALRM, _hung)
    signal.alarm(PATIENCE_S)
    try:
        yield
    finally:
        signal.alarm(0)


def _hung(*_: Any) -> None:
    raise HungError


def _counts(trace: Trace) -> dict[str, int]:
    calls: Counter[str] = Counter()
    for use in trace.ops:
        calls[f"{use.role} {use.op}"] += use.count
    return dict(calls)


def main() -> None:
    """Set up the device that the command line names and answer every request."""
    warnings.simplefilter("ignore")
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end
        os.dup2(nowhere.fileno(), 1)  # models print
        take_device(sys.argv[1])
        for line in sys.stdin:
            out.write(json.dumps(answer(json.loads(line))) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
