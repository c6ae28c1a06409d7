"""What ``torch.compile`` made of a phase: its graphs, where they break, what compiles them anew."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tpu_audit.types.trace import OpUse, SourceLine, TraceSettings


class BreakKind(StrEnum):
    """Why Dynamo stopped."""

    DATA = "data"
    """Python asks for a value, or for a size that depends on values."""
    PYTHON = "python"
    """A construct of Python or a library call that Dynamo does not follow."""
    LIMIT = "limit"
    """A function was compiled so often for other arguments that Dynamo gave up on it."""


class Change(StrEnum):
    """What was different in the call after the first."""

    NOTHING = "nothing"
    """The same inputs again."""
    VALUES = "values"
    """The same inputs, but other weights or data: what is read from the device is another number.
    Tried where something is read that only weights or data decide."""
    SEQ_LEN = "sequence length"
    BATCH = "batch size"
    TOKEN = "token"  # noqa: S105 - of text
    """The next step of generation."""
    TOKEN_STATIC = "token, static cache"  # noqa: S105 - of text
    """The next step of generation, with a static cache instead of the dynamic one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphBreak:
    """A place where Dynamo stops, gives what it has to the backend and goes back to Python."""

    reason: str
    """Dynamo's own name of the obstacle: ``Data-dependent branching``."""
    detail: str
    """Dynamo's explanation, one line."""
    kind: BreakKind
    source: SourceLine | None
    """Innermost line of the model's code there."""
    module: str | None
    """Path of the module whose forward holds the line, where one does; empty for the model."""
    count: int
    """Functions whose compilation it cut short, inlined callers included."""
    eager: bool
    """It sits in a loop, or where Dynamo cannot resume: the whole function runs op by op."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recompile:
    """A call after the first, with one thing changed."""

    change: Change
    anew: bool
    """Something was compiled again."""
    guard: str | None = None
    """The condition that no longer held, in Dynamo's words; None for code not met before."""
    was: int | None = None
    """The size that changed, in the first call."""
    now: int | None = None
    """The same size in this call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CompileTrace:
    """One phase of one model under Dynamo."""

    settings: TraceSettings
    graphs: int
    """Graphs that the first call compiled: as many XLA programs, or more."""
    launches: int
    """Graphs that one call runs; more than ``graphs`` where layers share one."""
    breaks: tuple[GraphBreak, ...] = ()
    recompiles: tuple[Recompile, ...] = ()
    ops: tuple[OpUse, ...] = ()
    """Calls that the graphs make of the backend, after AOTAutograd."""
    assumptions: tuple[str, ...] = ()
    """What was assumed, or left out, in sentences."""
