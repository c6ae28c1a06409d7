"""What a scan may be told, and whom it tells how far it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import platformdirs

from op_registry.toolchain.chips import CHIPS, DEFAULT_CHIP
from tpu_audit.types.errors import UsageError
from tpu_audit.types.trace import (
    ATTENTION,
    DTYPES,
    EXPERTS,
    GENERATION,
    KV_CACHES,
    OPTIMIZERS,
    PHASES,
    TraceSettings,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

TRACERS = ("pretended", "torch_tpu")


def default_cache_dir() -> Path:
    """Return the user's cache folder for this tool."""
    return Path(platformdirs.user_cache_dir("tpu-audit", appauthor=False))


@dataclass(frozen=True, kw_only=True, slots=True)
class ScanOptions:
    """How to scan. Raises UsageError for values that make no sense."""

    dtypes: tuple[str, ...] = ("bfloat16",)
    """Dtypes to build and trace in, in any accepted spelling (``bf16``)."""
    phases: tuple[str, ...] = ()
    """Phases to trace, of ``PHASES``; empty: all that apply to the class but training."""
    train: bool = False
    """Trace a training step as well."""
    attn: str | None = None
    """Attention implementation, ``eager`` or ``sdpa``; None: what transformers picks."""
    experts: str | None = None
    """Experts implementation: ``eager``, ``batched_mm``, ``grouped_mm``; None: likewise."""
    kv_cache: str = "dynamic"
    """Cache that generation fills: ``dynamic`` or ``static``."""
    optimizer: str = "adamw"
    """Optimizer of the training step, of ``OPTIMIZERS``."""
    autocast: str | None = None
    """Dtype to autocast to, in any accepted spelling; None: no autocast."""
    checkpointing: bool = False
    """Recompute activations in the backward pass."""
    compiled: bool = False
    """Run each phase under Dynamo as well: graph breaks and recompilations."""
    batch: int = 1
    """Sequences, images... in the batch."""
    seq_len: int = 128
    """Tokens a sequence."""
    revision: str | None = None
    """Branch, tag or commit, for targets that are hub ids without ``@revision``."""
    offline: bool = False
    """Use only what is on this machine."""
    registry: str | None = None
    """Snapshot to judge by: torch-tpu version or path; None: the one for the installed torch."""
    chip: str = DEFAULT_CHIP
    """TPU generation to judge for: ``v5e``, ``v5p``, ``v6e`` or ``tpu7x``."""
    with_reference_kernels: bool = False
    """Judge as if ``op_registry.reference.install()`` had been called."""
    tracer: str = "pretended"
    """``pretended``, or ``torch_tpu``: the real wheel's dispatcher in a child process."""
    tpu_python: str | None = None
    """Interpreter of the environment with torch-tpu; None: this one."""
    python: str | None = None
    """Interpreter that traces on the pretended device; None: this one."""
    trust_remote_code: bool = False
    """Run models' own code (``auto_map``), in a confined process."""
    check_code: bool = True
    """Check the model's own Python files and configs too, without running them."""
    ignore: tuple[str, ...] = ()
    """Rules to leave out of that check: codes, prefixes or names."""
    cache_dir: Path = field(default_factory=default_cache_dir)
    use_cache: bool = True
    """Reuse traces and resolutions. False still stores the new ones."""
    timeout_s: float = 300
    """Wall-clock limit of one trace, seconds."""
    memory_mb: int = 8192
    """Memory that one trace may take, MiB."""

    def __post_init__(self) -> None:
        """Check the values and spell the dtypes as torch does, each once."""
        unknown = [name for name in self.dtypes if name not in DTYPES]
        if unknown or not self.dtypes:
            hint = f"one of {', '.join(DTYPES)}"
            raise UsageError(f"no dtype to trace in: {(unknown or ['none given'])[0]!r}", hint=hint)
        for what, value, known in self._choices():
            if value not in known:
                raise UsageError(f"no such {what}: {value!r}", hint=f"one of {', '.join(known)}")
        for name in ("batch", "seq_len", "timeout_s", "memory_mb"):
            value = getattr(self, name)
            if not value > 0:
                raise UsageError(f"{name} must be greater than zero, not {value!r}")
        if self.trust_remote_code and self.tracer != TRACERS[0]:
            raise UsageError(
                f"the {self.tracer} tracer runs no code of a repository's own",
                hint="leave out --trust-remote-code, or trace on the pretended device",
            )
        dtypes = tuple(dict.fromkeys(DTYPES[name] for name in self.dtypes))
        object.__setattr__(self, "dtypes", dtypes)

    def _choices(self) -> Iterator[tuple[str, str, Collection[str]]]:
        yield "tracer", self.tracer, TRACERS
        yield "TPU generation", self.chip, CHIPS
        yield "cache", self.kv_cache, KV_CACHES
        yield "optimizer", self.optimizer, OPTIMIZERS
        yield from (("phase", phase, PHASES) for phase in self.phases)
        if self.attn:
            yield "attention implementation", self.attn, ATTENTION
        if self.experts:
            yield "experts implementation", self.experts, EXPERTS
        if self.autocast:
            yield "dtype to autocast to", self.autocast, DTYPES

    def asked_phases(self) -> tuple[str, ...]:
        """Return the phases asked for by name; empty for those that apply."""
        extra = ("train",) if self.train and self.phases else ()
        return tuple(dict.fromkeys((*self.phases, *extra)))

    def settings(self, dtype: str, phase: str = PHASES[0]) -> TraceSettings:
        """Return how to trace ``phase`` in ``dtype``; what it does not depend on is left alone."""
        training = phase == "train"
        return TraceSettings(
            phase=phase,
            dtype=dtype,
            attn=self.attn,
            experts=self.experts,
            kv_cache=self.kv_cache if phase in GENERATION else KV_CACHES[0],
            optimizer=self.optimizer if training else OPTIMIZERS[0],
            autocast=DTYPES[self.autocast] if self.autocast else None,
            checkpointing=self.checkpointing and training,
            batch=self.batch,
            seq_len=self.seq_len,
            tracer=self.tracer,
            timeout_s=float(self.timeout_s),
            memory_mb=self.memory_mb,
        )


class Progress(Protocol):
    """Is told how far a scan is."""

    def start(self, total: int) -> None:
        """Begin a scan of ``total`` targets."""

    def model(self, target: str) -> None:
        """Begin to work on ``target``."""

    def done(self, target: str, status: str) -> None:
        """End the work on ``target``; ``status`` is the worst of its phases' statuses."""


class NoProgress:
    """Tells nobody."""

    def start(self, total: int) -> None:
        """Do nothing."""

    def model(self, target: str) -> None:
        """Do nothing."""

    def done(self, target: str, status: str) -> None:
        """Do nothing."""
