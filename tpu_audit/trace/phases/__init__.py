"""The phases of a model: what is run, and which calls of it count, one module a phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.trace.phases import forward, generation, training

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tpu_audit.trace.phases.interface import Subject

RUNS: Mapping[str, Callable[[Subject], None]] = {
    "forward": forward.run,
    "prefill": generation.run,
    "decode": generation.run,
    "train": training.run,
}
"""Phase -> what runs it. One run may fill the ledgers of several phases."""
