"""``python -m tests.bench.trace_models STEP``: CPU time of forward passes of many small models.

Of every ``STEP``th model type by its name the main head, else the base class.

Prints one line of JSON: ``models``, for each of which ``name``, CPU seconds ``traced`` and
``bare`` (None where the module does not run on fake tensors by themselves), and ``untraced``, the
names of classes that cannot be traced with these configs.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

import torch

from op_registry import loader
from tests.census.auto_classes import auto_classes
from tests.census.class_configs import candidates
from tests.census.hub_index import HubIndex, index_hub
from tpu_audit.trace import shadow
from tpu_audit.trace.chance import seeded
from tpu_audit.trace.device import pretend
from tpu_audit.trace.fake import fake_mode, patched_for_fakes
from tpu_audit.trace.limits import settle
from tpu_audit.trace.places import Places
from tpu_audit.trace.recorder import Recorder
from tpu_audit.trace.runner import make_subject, trace_on_device
from tpu_audit.types.trace import TraceSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.census.auto_classes import AutoClass
    from tpu_audit.types.model import ModelSpec

SETTINGS = TraceSettings(seq_len=32)


def main() -> None:
    """Run every model twice in both ways; the second run counts."""
    warnings.simplefilter("ignore")
    models: list[dict[str, Any]] = []
    untraced: list[str] = []
    with contextlib.redirect_stdout(sys.stderr):
        from tpu_audit.trace.isolate import preload

        preload()
        settle()
        pretend(loader.load(None))
        for spec in _specs(int(sys.argv[1])):
            traced, bare = (_second(run, spec) for run in (_traced, _bare))
            name = str(spec.architecture)
            if traced is None:
                untraced.append(name)
            else:
                models.append({"name": name, "traced": traced, "bare": bare})
    sys.stdout.write("\n" + json.dumps({"models": models, "untraced": untraced}) + "\n")


def _specs(step: int) -> list[ModelSpec]:
    nowhere = index_hub(None)
    chosen = [_smallest(classes[-1], nowhere) for _, classes in auto_classes()[::step]]
    return [spec for spec in chosen if spec is not None]


def _smallest(one: AutoClass, nowhere: HubIndex) -> ModelSpec | None:
    return next((candidate.spec for candidate in candidates(one, nowhere)), None)


def _second(run: Callable[[ModelSpec], None], spec: ModelSpec) -> float | None:
    """Return CPU seconds of a second run: the first imports; None where the model does not run."""
    seconds = None
    for _ in range(2):
        began = time.process_time()
        try:
            run(spec)
        except Exception:  # noqa: BLE001 - whatever a model does with a default config
            return None
        seconds = time.process_time() - began
    return seconds


def _traced(spec: ModelSpec) -> None:
    """Trace as ``scan`` does."""
    trace_on_device(spec, SETTINGS, "")


def _bare(spec: ModelSpec) -> None:
    """Build the same module and run it with the same inputs on fake tensors, and nothing else."""
    places = Places()
    shadow.forget_all()
    with seeded(), patched_for_fakes(), fake_mode(), torch.no_grad():
        subject = make_subject(spec, SETTINGS, Recorder(places), places)
        subject.entry(**subject.inputs)


if __name__ == "__main__":
    main()
