"""Compiles a phase of one model in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tpu_audit.trace import shadow
from tpu_audit.trace.compiling import forward, generation, own, training
from tpu_audit.trace.compiling.places import GraphPlaces
from tpu_audit.trace.compiling.session import GraphRecorder, Session
from tpu_audit.trace.compiling.settings import configured
from tpu_audit.trace.fake import fake_mode, patched_for_fakes
from tpu_audit.trace.own import make_program, own_folder
from tpu_audit.trace.places import Places
from tpu_audit.trace.runner import DEVICE, code_folder, make_subject
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from op_registry.schema import Snapshot
    from tpu_audit.trace.phases.interface import Subject
    from tpu_audit.types.compiled import CompileTrace
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import TraceSettings

RUNS: Mapping[str, Callable[[Subject, Session], tuple[CompileTrace, ...]]] = {
    "forward": forward.run,
    "prefill": generation.run,
    "decode": generation.run,
    "train": training.run,
}
"""Phase -> what compiles it."""


def run_compile(
    spec: ModelSpec, settings: TraceSettings, registry: Snapshot
) -> tuple[CompileTrace, ...]:
    """Compile ``spec`` with Dynamo on the pretended TPU that dispatches as ``registry`` says.

    Returns the phase that ``settings`` name first, then others that the same run showed. Nothing
    is lowered beyond calls of aten ops, and nothing is computed. Raises NotAuditedError.
    """
    from tpu_audit.trace.device import pretend

    pretend(registry)
    shadow.forget_all()
    with patched_for_fakes(), fake_mode(), configured():
        return _own(spec.factory, settings) if spec.factory else _model(spec, settings)


def _model(spec: ModelSpec, settings: TraceSettings) -> tuple[CompileTrace, ...]:
    run = RUNS.get(settings.phase)
    if run is None:
        raise NotAuditedError(
            f"{settings.phase} is not compiled as a whole",
            stage=Stage.TRACE,
            code="phase_not_compiled",
            skipped=True,
        )
    building = Places()
    with GraphRecorder(building) as recorder:
        subject = make_subject(spec, settings, recorder, building)
    places = GraphPlaces(subject.model, code_folder(spec, settings))
    session = Session.of(settings, places)
    with session.recorder:
        return run(subject, session)


def _own(factory: tuple[str, str], settings: TraceSettings) -> tuple[CompileTrace, ...]:
    with GraphRecorder(Places()):
        program = make_program(factory, getattr(torch, settings.dtype), DEVICE)
    modules = program.modules
    whole = modules[0] if len(modules) == 1 else torch.nn.ModuleList(modules)
    session = Session.of(settings, GraphPlaces(whole, own_folder(factory)))
    with session.recorder:
        return own.run(program, session)
