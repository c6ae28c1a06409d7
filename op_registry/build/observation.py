"""What sample runs showed: the ops a call ends in, and how the backend answered each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

UNFIT = "its own code does not run on placeholder tensors"
"""It crashed, waited for a device, or worked on memory without calling an op: no verdict. One text
for all, because which of them happens is up to what the memory holds."""


class Answer(StrEnum):
    """How the backend answered a call on placeholder tensors."""

    RAN = "ran"
    NOT_IMPLEMENTED = "not_implemented"
    HOST_SYNC = "host_sync"
    REJECTED = "rejected"
    """The kernel refuses this dtype or argument."""
    NEEDS_DEVICE = "needs_device"
    """Random numbers and the like: undecidable on a host without a TPU."""
    OTHER = "other"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """One answer with the backend's own words (empty when it ran)."""

    answer: Answer
    message: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One sample call of one op."""

    leaves: Mapping[str, Reply]
    """The kernels and missing ops that the call reached, each with its worst answer."""
    error: str = ""
    """Why the call did not come to its end, if it did not."""
    detached: bool | None = None
    """Whether an output has no gradient that it has on the CPU; None when not looked at."""
