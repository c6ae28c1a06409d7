"""Traces a phase of one model in this process."""

from __future__ import annotations

import contextlib
import importlib.metadata
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from tpu_audit.trace import libraries, shadow
from tpu_audit.trace.build import count_parameters
from tpu_audit.trace.chance import seeded
from tpu_audit.trace.fake import fake_mode, patched_for_fakes
from tpu_audit.trace.inputs import build_inputs
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs, Late, Probe
from tpu_audit.trace.nearest import stand_in
from tpu_audit.trace.own import STEP, make_program, own_folder
from tpu_audit.trace.phases import RUNS
from tpu_audit.trace.phases.generation import DECODE, PREFILL, can_generate
from tpu_audit.trace.phases.interface import Subject, attempt
from tpu_audit.trace.phases.training import TRAIN, can_train
from tpu_audit.trace.places import Places
from tpu_audit.trace.recorder import Ledger, Recorder
from tpu_audit.trace.repository import repository_folder
from tpu_audit.types.errors import NotAuditedError, Stage, shorten
from tpu_audit.types.trace import PHASES, LostGradient, Role, Trace, TraceSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from op_registry.schema import Snapshot
    from tpu_audit.types.model import ModelSpec

DEVICE = "tpu"
Traces = tuple[Trace, ...]


def run_trace(spec: ModelSpec, settings: TraceSettings, registry: Snapshot) -> Traces:
    """Trace ``spec`` on the pretended TPU that dispatches as ``registry`` says.

    Returns the phase that ``settings`` name first, then others that the same run showed. Executes
    transformers' code only, on fake tensors. Raises NotAuditedError with the stage.
    """
    from tpu_audit.trace.device import pretend

    pretend(registry)
    return trace_on_device(spec, settings, registry.digest)


def trace_on_device(spec: ModelSpec, settings: TraceSettings, registry_digest: str) -> Traces:
    """Trace on whatever backend owns the device type ``tpu`` in this process."""
    places = Places(own=code_folder(spec, settings))
    recorder = Recorder(places)
    shadow.forget_all()
    with seeded(), patched_for_fakes(), fake_mode(), recorder:
        if spec.factory:
            seen = _follow_own(spec.factory, settings, recorder, places)
        else:
            seen = _follow_model(spec, settings, recorder, places)
    versions = _versions()

    def trace(phase: str, ledger: Ledger) -> Trace:
        return Trace(
            settings=replace(settings, phase=phase),
            architecture=seen.architecture,
            parameters=seen.parameters,
            ops=ledger.uses(),
            cpu_ops=dict(ledger.cpu_ops),
            assumptions=seen.assumptions,
            stand_in=seen.stand_in,
            applies=seen.applies,
            no_gradient=seen.no_gradient,
            versions=versions,
            registry_digest=registry_digest,
        )

    found = [trace(phase, ledger) for phase, ledger in recorder.ledgers.items()]
    return tuple(sorted(found, key=lambda one: one.settings.phase != settings.phase))


def code_folder(spec: ModelSpec, settings: TraceSettings) -> str | None:
    """Return the folder of code that is neither torch's nor a library's; None: there is none."""
    if spec.factory:
        return own_folder(spec.factory)
    return repository_folder(spec) if settings.remote_code else None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Seen:
    """What was traced."""

    architecture: str
    parameters: int
    assumptions: tuple[str, ...] = ()
    stand_in: str | None = None
    applies: tuple[str, ...]
    no_gradient: tuple[LostGradient, ...] = ()


def _follow_model(
    spec: ModelSpec, settings: TraceSettings, recorder: Recorder, places: Places
) -> _Seen:
    subject = make_subject(spec, settings, recorder, places)
    with places.follow(subject.model):
        RUNS[settings.phase](subject)
    return _Seen(
        architecture=type(subject.model).__name__,
        parameters=count_parameters(subject.model),
        assumptions=tuple(subject.assumptions),
        stand_in=None if settings.remote_code else stand_in(spec),
        applies=_applying(subject),
        no_gradient=tuple(subject.no_gradient),
    )


def _applying(subject: Subject) -> tuple[str, ...]:
    if subject.method != "forward":
        return PHASES[:1]
    without = set() if can_generate(subject.model) else {PREFILL, DECODE}
    if not can_train(subject):
        without.add(TRAIN)
    return tuple(phase for phase in PHASES if phase in RUNS and phase not in without)


def make_subject(
    spec: ModelSpec,
    settings: TraceSettings,
    recorder: Recorder,
    places: Places,
    device: str = DEVICE,
) -> Subject:
    """Build the model and its inputs on ``device``; on fake tensors, under ``recorder``."""
    with torch.no_grad():
        model, config, assumptions = libraries.build(spec, settings, device)
        made = make_inputs(model, config, spec, settings, device)
        return Subject(
            model=model,
            config=config,
            inputs=made.kwargs,
            method=made.method,
            spec=spec,
            settings=settings,
            recorder=recorder,
            places=places,
            assumptions=[*assumptions, *made.assumptions],
            device=device,
            elsewhere=partial(make_subject, spec, settings, recorder, places),
        )


def make_inputs(
    model: torch.nn.Module,
    config: Any,
    spec: ModelSpec,
    settings: TraceSettings,
    device: str = DEVICE,
) -> Inputs:
    """Make the inputs that ``settings`` ask for, as tensors on ``device``."""
    dtype: torch.dtype = getattr(torch, settings.dtype)
    context = InputContext(
        model=model, config=config, spec=spec, settings=settings, probe=_prober(dtype, device)
    )
    inputs = build_inputs(context)
    return replace(inputs, kwargs=_on_device(inputs.kwargs, dtype, device))


def _follow_own(
    factory: tuple[str, str], settings: TraceSettings, recorder: Recorder, places: Places
) -> _Seen:
    program = make_program(factory, getattr(torch, settings.dtype), DEVICE)
    # Threads of autograd's engine would ask for devices, and there are none.
    single = torch.autograd.set_multithreading_enabled(False)
    whole = torch.nn.ModuleList(program.modules) if program.phase == STEP else program.modules[0]
    recorder.role = Role.MODEL  # all that a program does is the model's
    with single, torch.set_grad_enabled(program.phase == STEP), places.follow(whole):
        recorder.enter(program.phase)
        attempt(
            partial(program.call, *program.args, **program.kwargs),
            "forward",
            "run it on the CPU first; what is computed from weights or data is not known here",
        )
        recorder.enter(None)
    return _Seen(architecture=program.name, parameters=program.parameters, applies=(program.phase,))


def _prober(dtype: torch.dtype, device: str) -> Probe:
    """Let input builders run a method of the model, unrecorded."""
    return lambda method, kwargs: method(**_realise_all(kwargs, dtype, device))


def _on_device(kwargs: Mapping[str, Any], dtype: torch.dtype, device: str) -> dict[str, Any]:
    """Make the inputs; sizes that a config asks for may be more than a tensor can have."""
    try:
        return _realise_all(kwargs, dtype, device)
    except Exception as error:
        raise NotAuditedError(
            f"the inputs cannot be made: {shorten(error)}",
            stage=Stage.INPUTS,
            code="inputs_failed",
            hint="check the sizes in config.json and in the processor's config",
        ) from error


def _realise_all(kwargs: Mapping[str, Any], dtype: torch.dtype, device: str) -> dict[str, Any]:
    return {name: _realise(value, dtype, device) for name, value in kwargs.items()}


def _realise(value: Any, dtype: torch.dtype, device: str) -> Any:
    """Put an input on the device: floats unknown, integers known."""
    if isinstance(value, Floats):
        return torch.empty(value.shape, dtype=dtype, device=device)
    if isinstance(value, Late):
        return value.make(dtype, device)
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, list | tuple):
        return type(value)(_realise(v, dtype, device) for v in value)
    if isinstance(value, dict):
        return {name: _realise(item, dtype, device) for name, item in value.items()}
    return value


def _versions() -> dict[str, str]:
    """Return the versions that the trace depends on; programs may do without transformers."""
    found = {}
    for name in ("torch", "transformers"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found
