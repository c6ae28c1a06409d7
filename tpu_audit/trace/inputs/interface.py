"""What an input builder gets and gives."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import TraceSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class Floats:
    """A floating-point input whose values do not matter: the tracer makes it on the device."""

    shape: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Late:
    """An object of the model's own that holds tensors: made when the device is there."""

    make: Callable[[torch.dtype, str], Any]
    """(dtype of floats, device type) -> the object."""


Probe = Callable[[Callable[..., Any], Mapping[str, Any]], Any]
"""(method, keyword arguments as in :attr:`Inputs.kwargs`) -> what the method returns."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InputContext:
    """What is known of the model when its inputs are made."""

    model: torch.nn.Module
    """The built model (its parameters are fake tensors; never read their values)."""
    config: Any
    """The transformers config object of ``model``."""
    spec: ModelSpec
    settings: TraceSettings
    probe: Probe | None = None
    """Run a method of the model on inputs, unrecorded, to learn the shapes it gives: how many
    features an image becomes is the model's own knowledge. The result holds fake tensors."""

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """Parameters of the model's forward, in order."""
        return inspect.signature(self.model.forward).parameters

    @property
    def model_type(self) -> str:
        """``model_type`` of the config object."""
        return str(getattr(self.config, "model_type", "") or "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Inputs:
    """Keyword arguments of what is run, and what was assumed to make them.

    A value is :class:`Floats`, :class:`Late`, a real CPU tensor of integers or booleans (its
    values steer the model: token ids, masks, grids), a plain Python value, or a list, tuple or
    dictionary of those.
    """

    kwargs: dict[str, Any]
    assumptions: list[str] = field(default_factory=list)
    """One sentence each, for the report: ``image 336x336, 576 placeholder tokens``."""
    method: str = "forward"
    """What is run of the model: ``decode`` of an autoencoder, for one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Builder:
    """One modality's way to make inputs."""

    name: str
    applies: Callable[[InputContext], bool]
    build: Callable[[InputContext], Inputs]
