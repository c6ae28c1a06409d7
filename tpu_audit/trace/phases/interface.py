"""What a phase gets: the built model, its inputs, and where its calls are written down."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from tpu_audit.trace.places import Places
from tpu_audit.trace.recorder import Recorder
from tpu_audit.types.errors import NotAuditedError, Stage, shorten
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import LostGradient, TraceSettings

DEVICE = "tpu"


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """A model on the device, ready to run."""

    model: nn.Module
    config: Any
    """The transformers config object of ``model``."""
    inputs: Mapping[str, Any]
    """Keyword arguments of ``method``, as tensors on the device."""
    spec: ModelSpec
    settings: TraceSettings
    recorder: Recorder
    places: Places
    assumptions: list[str]
    """Sentences for the report; phases add theirs."""
    method: str = "forward"
    """What the phase ``forward`` runs: forward, or another method of the model."""
    device: str = DEVICE
    """Device type that the model and its inputs are on."""
    elsewhere: Callable[[str], Subject] | None = None
    """Makes the same model and inputs on another device, to compare."""
    no_gradient: list[LostGradient] = field(default_factory=list)

    @property
    def entry(self) -> Callable[..., Any]:
        """What the phase ``forward`` calls: the model, so that its hooks see it, or its method."""
        if self.method == "forward":
            return self.model
        method: Callable[..., Any] = getattr(self.model, self.method)
        return method


def autocasting(settings: TraceSettings) -> contextlib.AbstractContextManager[Any]:
    """Return the autocast that ``settings`` ask for, or a context that changes nothing."""
    if settings.autocast is None:
        return contextlib.nullcontext()
    return torch.autocast(DEVICE, dtype=getattr(torch, settings.autocast))


def attempt(call: Callable[[], Any], phase: str, hint: str) -> Any:
    """Run ``call``; whatever model code raises becomes a NotAuditedError at stage ``trace``."""
    try:
        return call()
    except NotAuditedError:
        raise
    except Exception as error:
        raise NotAuditedError(
            f"{phase} stopped: {shorten(error)}",
            stage=Stage.TRACE,
            code=f"{phase}_failed",
            hint=hint,
        ) from error
