"""What torch.compile made of a phase, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.render.console.words import title
from tpu_audit.render.text import plural
from tpu_audit.types.compiled import Change
from tpu_audit.types.report import CompileReport, PhaseReport, Status

if TYPE_CHECKING:
    from tpu_audit.render.console.paper import Paper

_ANEW = {
    Change.NOTHING: "call",
    Change.VALUES: "number read",
    Change.TOKEN: "token",
    Change.SEQ_LEN: "sequence length",
    Change.BATCH: "batch size",
}


def write_compiled(paper: Paper, phases: list[PhaseReport]) -> None:
    """Write a line for each phase that was compiled."""
    shown = [(phase, phase.compiled) for phase in phases if phase.compiled]
    for phase, compiled in shown:
        name = f"{title(phase)}: " if len(phases) > 1 else ""
        paper.labelled("compile", name + sentence(compiled))


def sentence(compiled: CompileReport) -> str:
    """Return ``3 graphs, 2 breaks; anew for each token``, or why there is none."""
    if compiled.status is not Status.TRACED:
        slug = f" ({compiled.reason_code})" if compiled.reason_code else ""
        return f"{compiled.status.value}{slug}: {compiled.reason or 'no reason was recorded'}"
    parts = [plural(compiled.graphs, "graph")]
    if compiled.launches > compiled.graphs:
        parts[0] += f" run {compiled.launches:,} times a call"
    if compiled.breaks:
        parts.append(plural(len(compiled.breaks), "break"))
    if left := sum(found.eager for found in compiled.breaks):
        parts.append(f"{plural(left, 'function')} left to Python")
    anew = [_ANEW[one.change] for one in compiled.recompiles if one.anew and one.change in _ANEW]
    return ", ".join(parts) + (f"; anew for each {', '.join(anew)}" if anew else "")
