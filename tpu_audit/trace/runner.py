"""Traces one phase of one model in this process."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from tpu_audit.trace import shadow
from tpu_audit.trace.build import build_model, count_parameters
from tpu_audit.trace.fake import fake_mode, patched_for_fakes
from tpu_audit.trace.inputs import build_inputs
from tpu_audit.trace.inputs.interface import Floats, InputContext, Probe
from tpu_audit.trace.own import STEP, make_program, own_folder
from tpu_audit.trace.places import Places
from tpu_audit.trace.recorder import Recorder
from tpu_audit.types.errors import NotAuditedError, Stage, shorten
from tpu_audit.types.trace import Trace, TraceSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from op_registry.schema import Snapshot
    from tpu_audit.types.model import ModelSpec

DEVICE = "tpu"


def run_trace(spec: ModelSpec, settings: TraceSettings, registry: Snapshot) -> Trace:
    """Trace ``spec`` on the pretended TPU that dispatches as ``registry`` says.

    Executes transformers' code only, on fake tensors. Raises NotAuditedError with the stage.
    """
    from tpu_audit.trace.device import pretend

    pretend(registry)
    return trace_on_device(spec, settings, registry.digest)


def trace_on_device(spec: ModelSpec, settings: TraceSettings, registry_digest: str) -> Trace:
    """Trace on whatever backend owns the device type ``tpu`` in this process."""
    dtype: torch.dtype = getattr(torch, settings.dtype)
    places = Places(own=own_folder(spec.factory) if spec.factory else None)
    recorder = Recorder(places)
    shadow.forget_all()
    with patched_for_fakes(), fake_mode(), recorder:
        if spec.factory:
            seen = _follow_own(spec.factory, dtype, recorder, places)
        else:
            seen = _follow_model(spec, settings, recorder, places)
    return Trace(
        settings=replace(settings, phase=seen.phase),
        architecture=seen.architecture,
        parameters=seen.parameters,
        ops=recorder.uses(),
        cpu_ops=dict(recorder.cpu_ops),
        assumptions=seen.assumptions,
        versions=_versions(),
        registry_digest=registry_digest,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Seen:
    """What was traced."""

    phase: str
    architecture: str
    parameters: int
    assumptions: tuple[str, ...] = ()


def _follow_model(
    spec: ModelSpec, settings: TraceSettings, recorder: Recorder, places: Places
) -> _Seen:
    dtype: torch.dtype = getattr(torch, settings.dtype)
    with torch.no_grad():
        model, config, assumptions = build_model(spec, dtype, DEVICE)
        context = InputContext(
            model=model, config=config, spec=spec, settings=settings, probe=_prober(dtype)
        )
        inputs = build_inputs(context)
        kwargs = _on_device(inputs.kwargs, dtype)
        with places.follow(model):
            _run(
                partial(model, **kwargs),
                recorder,
                "the config may be incomplete, or these inputs may not fit the model",
            )
    return _Seen(
        phase=settings.phase,
        architecture=type(model).__name__,
        parameters=count_parameters(model),
        assumptions=(*assumptions, *inputs.assumptions),
    )


def _follow_own(
    factory: tuple[str, str], dtype: torch.dtype, recorder: Recorder, places: Places
) -> _Seen:
    program = make_program(factory, dtype, DEVICE)
    # Threads of autograd's engine would ask for devices, and there are none.
    single = torch.autograd.set_multithreading_enabled(False)
    whole = torch.nn.ModuleList(program.modules) if program.phase == STEP else program.modules[0]
    with single, torch.set_grad_enabled(program.phase == STEP), places.follow(whole):
        _run(
            partial(program.call, *program.args, **program.kwargs),
            recorder,
            "run it on the CPU first; what is computed from weights or data is not known here",
        )
    return _Seen(phase=program.phase, architecture=program.name, parameters=program.parameters)


def _run(call: Callable[[], Any], recorder: Recorder, hint: str) -> None:
    recorder.recording = True
    try:
        call()
    except NotAuditedError:
        raise
    except Exception as error:
        raise NotAuditedError(
            f"forward stopped: {shorten(error)}",
            stage=Stage.TRACE,
            code="forward_failed",
            hint=hint,
        ) from error
    finally:
        recorder.recording = False


def _prober(dtype: torch.dtype) -> Probe:
    """Let input builders run a method of the model, unrecorded."""
    return lambda method, kwargs: method(**_realise_all(kwargs, dtype))


def _on_device(kwargs: Mapping[str, Any], dtype: torch.dtype) -> dict[str, Any]:
    """Make the inputs; sizes that a config asks for may be more than a tensor can have."""
    try:
        return _realise_all(kwargs, dtype)
    except Exception as error:
        raise NotAuditedError(
            f"the inputs cannot be made: {shorten(error)}",
            stage=Stage.INPUTS,
            code="inputs_failed",
            hint="check the sizes in config.json and in the processor's config",
        ) from error


def _realise_all(kwargs: Mapping[str, Any], dtype: torch.dtype) -> dict[str, Any]:
    return {name: _realise(value, dtype) for name, value in kwargs.items()}


def _realise(value: Any, dtype: torch.dtype) -> Any:
    """Put an input on the device: floats unknown, integers known."""
    if isinstance(value, Floats):
        return torch.empty(value.shape, dtype=dtype, device=DEVICE)
    if isinstance(value, torch.Tensor):
        return value.to(DEVICE)
    if isinstance(value, list | tuple):
        return type(value)(_realise(v, dtype) for v in value)
    return value


def _versions() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in ("torch", "transformers")}
