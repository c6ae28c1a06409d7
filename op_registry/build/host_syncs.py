"""Finds the ops that read from the device: what lowering a small sample of them shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from op_registry.build.observation import Answer
from op_registry.schema import Evidence, EvidenceKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from op_registry.build.observation import Reply, Run


def host_sync(runs: Sequence[Run]) -> str | None:
    """Return why an op blocks on the host, None when none of its samples did.

    An op counts when it does so itself, or through a piece of it in some sample.
    """
    seen = [(leaf, reply) for run in runs for leaf, reply in run.leaves.items() if _reads(reply)]
    if not seen:
        return None
    always = all(any(_reads(reply) for reply in run.leaves.values()) for run in runs)
    often = "" if always else " in some samples"
    pieces = ", ".join(sorted({leaf for leaf, _ in seen}))
    return f"reads a value back from the device{often} ({pieces})"


def lowering_evidence(runs: Sequence[Run]) -> tuple[Evidence, ...]:
    """Return what the backend answered where it did not simply run, each text once, sorted."""
    said = {
        (leaf, reply.message)
        for run in runs
        for leaf, reply in run.leaves.items()
        if reply.answer in {Answer.NOT_IMPLEMENTED, Answer.HOST_SYNC}
    }
    return tuple(
        Evidence(kind=EvidenceKind.LOWERED, detail=f"lowering {leaf} raised: {message}")
        for leaf, message in sorted(said)
    )


def _reads(reply: Reply) -> bool:
    return reply.answer is Answer.HOST_SYNC
