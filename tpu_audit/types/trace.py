"""What the tracer observed: distinct calls with their tensors, costs and places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

Scalar = bool | int | float | str | None

DTYPES: Mapping[str, str] = {
    "bf16": "bfloat16",
    "bfloat16": "bfloat16",
    "fp16": "float16",
    "f16": "float16",
    "half": "float16",
    "float16": "float16",
    "fp32": "float32",
    "f32": "float32",
    "float": "float32",
    "float32": "float32",
    "fp64": "float64",
    "f64": "float64",
    "double": "float64",
    "float64": "float64",
}
"""Accepted spellings of a trace dtype -> torch's name for it."""

PHASES = ("forward", "prefill", "decode", "train")
"""What a model may be traced in."""

GENERATION = ("prefill", "decode")
"""The phases that one run of ``generate()`` shows."""

ATTENTION = ("eager", "sdpa")
EXPERTS = ("eager", "batched_mm", "grouped_mm")
KV_CACHES = ("dynamic", "static")
OPTIMIZERS = ("adamw", "adamw-fused", "adamw-loop", "sgd", "adafactor")


class Role(StrEnum):
    """Who issued a call."""

    MODEL = "model"
    """A module of the model, in its forward."""
    BOOKKEEPING = "bookkeeping"
    """``generate()`` itself: inputs, masks, sampling, stopping."""
    LOSS = "loss"
    BACKWARD = "backward"
    CLIP = "clip"
    """Clipping of gradients."""
    OPTIMIZER = "optimizer"


@dataclass(frozen=True, kw_only=True, slots=True)
class TraceSettings:
    """How to trace one model; part of the cache key, all of it."""

    phase: str = "forward"
    """``forward``, ``prefill``, ``decode``, ``train``; ``step`` for a program of the user's own."""
    dtype: str = "bfloat16"
    """torch's name of the dtype that floating-point parameters and inputs are built in."""
    batch: int = 1
    seq_len: int = 128
    """Tokens per sequence."""
    attn: str | None = None
    """Attention implementation: ``eager`` or ``sdpa``; None: what transformers picks itself."""
    experts: str | None = None
    """Experts implementation: ``eager``, ``batched_mm`` or ``grouped_mm``; None: likewise."""
    kv_cache: str = "dynamic"
    """Cache that generation fills: ``dynamic`` or ``static``."""
    optimizer: str = "adamw"
    """What a training step ends in: a name of ``OPTIMIZERS``."""
    autocast: str | None = None
    """torch's name of the dtype that training and inference autocast to; None: no autocast."""
    checkpointing: bool = False
    """Recompute activations in the backward pass of training."""
    tracer: str = "pretended"
    """``pretended`` or ``torch_tpu``."""
    remote_code: bool = False
    """Build the class that the repository's own code defines, where it has one."""
    timeout_s: float = 300.0
    """Wall-clock limit of one trace, seconds."""
    memory_mb: int = 8192
    """Address-space growth allowed to one trace, MiB."""


def variant(settings: TraceSettings) -> str:
    """Say how the phase was run, where there is a choice: ``static cache, eager attention``."""
    words = []
    if settings.phase in GENERATION:
        words.append(f"{settings.kv_cache} cache")
    if settings.attn:
        words.append(f"{settings.attn} attention")
    if settings.experts:
        words.append(f"{settings.experts} experts")
    if settings.autocast:
        words.append(f"autocast to {settings.autocast}")
    if settings.phase == "train":
        words.append(settings.optimizer)
        words += ["activation checkpointing"] if settings.checkpointing else []
    return ", ".join(words)


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class TensorRef:
    """A tensor as a call saw it."""

    dtype: str
    """torch's name: ``bfloat16``."""
    shape: tuple[int, ...]
    device: str
    """Device type: ``tpu`` or ``cpu``."""


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class SourceLine:
    """A line of the model's code that issued a call."""

    path: str
    """``transformers/models/bert/modeling_bert.py``: relative to site-packages."""
    line: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OpUse:
    """All calls of one op overload with the same tensors and deciding arguments."""

    op: str
    """``aten.linear.default``."""
    count: int
    inputs: tuple[TensorRef, ...]
    outputs: tuple[TensorRef, ...]
    args: Mapping[str, Scalar] = field(default_factory=dict)
    """Scalar arguments by schema name; lists are written ``[1, 2]``."""
    flops: int | None = 0
    """Floating-point operations of all ``count`` calls by torch's counter; None: not known."""
    bytes: int = 0
    """Bytes read and written by all ``count`` calls, counting each tensor once; 0 for views."""
    modules: tuple[str, ...] = ()
    """Paths of the modules that issued the call, in call order, distinct."""
    sources: tuple[SourceLine, ...] = ()
    guesses: int = 0
    """Calls whose value or shape could not be known without weights and was guessed."""
    host_read: bool = False
    """The call hands a value or a size to the host."""
    ends_in: tuple[str, ...] | None = None
    """Ops a composite kernel ended in when run with these tensors, if the tracer looked."""
    grad_inputs: bool = False
    """Some floating-point input required grad."""
    role: Role = Role.MODEL
    """Who issued it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LostGradient:
    """A parameter that ends a training step without a gradient on the TPU alone."""

    parameter: str
    """Its path: ``encoder.lstm.weight_ih_l0``."""
    op: str | None
    """The op overload that cut it off, where one was found."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """One phase of one model at one dtype."""

    settings: TraceSettings
    architecture: str
    """Class that was built."""
    parameters: int
    """Parameters of that class, tied ones counted once."""
    ops: tuple[OpUse, ...]
    """Calls on the TPU, in order of first appearance."""
    cpu_ops: Mapping[str, int] = field(default_factory=dict)
    """Op -> calls on CPU tensors only: not TPU ops."""
    assumptions: tuple[str, ...] = ()
    """What the inputs and the build assumed, in sentences."""
    stand_in: str | None = None
    """What was traced in place of a class that only the repository's code has, and why."""
    applies: tuple[str, ...] = ()
    """Phases that apply to the class, of ``PHASES``."""
    no_gradient: tuple[LostGradient, ...] = ()
    """Parameters that a training step left without a gradient which the CPU gives them."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """torch, transformers, tracer format."""
    registry_digest: str = ""
    """Digest of the registry that drove the dispatch."""
