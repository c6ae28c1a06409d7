"""What a scan may be told, and whom it tells how far it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import platformdirs

from op_registry.toolchain.chips import CHIPS, DEFAULT_CHIP
from tpu_audit.types.errors import UsageError
from tpu_audit.types.trace import DTYPES, TraceSettings

TRACERS = ("pretended", "torch_tpu")


def default_cache_dir() -> Path:
    """Return the user's cache folder for this tool."""
    return Path(platformdirs.user_cache_dir("tpu-audit", appauthor=False))


@dataclass(frozen=True, kw_only=True, slots=True)
class ScanOptions:
    """How to scan. Raises UsageError for values that make no sense."""

    dtypes: tuple[str, ...] = ("bfloat16",)
    """Dtypes to build and trace in, in any accepted spelling (``bf16``); one phase each."""
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
        if self.tracer not in TRACERS:
            hint = f"one of {', '.join(TRACERS)}"
            raise UsageError(f"no such tracer: {self.tracer!r}", hint=hint)
        if self.chip not in CHIPS:
            hint = f"one of {', '.join(CHIPS)}"
            raise UsageError(f"no such TPU generation: {self.chip!r}", hint=hint)
        for name in ("batch", "seq_len", "timeout_s", "memory_mb"):
            value = getattr(self, name)
            if not value > 0:
                raise UsageError(f"{name} must be greater than zero, not {value!r}")
        dtypes = tuple(dict.fromkeys(DTYPES[name] for name in self.dtypes))
        object.__setattr__(self, "dtypes", dtypes)

    def settings(self, dtype: str) -> TraceSettings:
        """Return how to trace the forward phase in ``dtype``."""
        return TraceSettings(
            dtype=dtype,
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
