"""What a call of a child process comes back with."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias


class Loss(StrEnum):
    """How a call took its process down."""

    CRASHED = "crashed"
    """A fatal signal, or an exit in the middle of the call."""
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    """Past the worker's memory limit, or killed by the system for want of memory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """The call returned."""

    result: dict[str, Any]
    """What the child's function returned: JSON."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Failed:
    """The call raised; the child goes on."""

    error: str
    """``TypeName: message``, the message whole."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lost:
    """The call took its process down; the next call starts a new one."""

    how: Loss
    detail: str
    """The signal or the limit, and the last the process said of it."""


Reply: TypeAlias = Done | Failed | Lost
