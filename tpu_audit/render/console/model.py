"""One model: its verdicts, where its config came from, what was traced, what the calls cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.render.console.code import write_code
from tpu_audit.render.console.compiled import write_compiled
from tpu_audit.render.console.words import SUPPORT_STYLES, failure, outcome, title
from tpu_audit.render.summary import Cost, by_hazard, by_role, by_support
from tpu_audit.render.text import plural
from tpu_audit.render.units import flops, share, size
from tpu_audit.types.report import ComponentReport, ModelReport, PhaseReport, Status, Versions

if TYPE_CHECKING:
    from op_registry.schema import Hazard
    from tpu_audit.render.console.paper import Paper

Cell = str | tuple[str, str]


def write_model(paper: Paper, model: ModelReport, versions: Versions, *, everything: bool) -> None:
    """Write the block of one model."""
    for phase in model.phases:
        paper.line((model.target, "bold"), f"  {title(phase)}  ", outcome(phase))
        if phase.status is not Status.TRACED:
            paper.labelled("why", failure(phase))
    _write_identity(paper, model, everything=everything)
    _write_setup(paper, model, versions)
    for phase in model.phases:
        if phase.status is Status.TRACED:
            _write_costs(paper, phase, titled=len(model.phases) > 1)


def config_source(model: ModelReport) -> Cell:
    """Say where the config came from; loudly when it is not the model's own."""
    source = model.config_source
    if source is None:
        return ("no config was read", "magenta")
    if source == "catalogue":
        text = "CATALOGUE: tpu-audit's built-in copy, not this model's repository"
        return (text, "bold yellow")
    return source


def _write_identity(paper: Paper, model: ModelReport, *, everything: bool) -> None:
    redirected = f", redirected from {model.redirected_from}" if model.redirected_from else ""
    name = f" ({model.id}{redirected})" if model.id != model.target or redirected else ""
    paper.labelled("config", config_source(model), name)
    if model.architecture or model.parameters is not None:
        paper.labelled("model", _identity(model))
    for sentence in dict.fromkeys(phase.stand_in for phase in model.phases if phase.stand_in):
        paper.labelled("STAND-IN", (sentence, "bold yellow"))
    for component in model.components:
        paper.labelled("", f"{component.name}: {_identity(component)}")
    if model.code:
        write_code(paper, model.code, everything=everything)
    for note in model.notes:
        paper.labelled("note", note)


def _identity(model: ModelReport | ComponentReport) -> str:
    """Return class, family and size; that it is the dense model where weights are quantised."""
    family = ", ".join(filter(None, (model.model_type, model.library)))
    count = model.parameters
    known = plural(count, "parameter") if count is not None else "parameters not counted"
    dense = f"; dense: the checkpoint is quantised ({model.quantisation})"
    return (
        f"{model.architecture or 'unknown class'} ({family}), {known}"
        f"{dense if model.quantisation else ''}"
    )


def _write_setup(paper: Paper, model: ModelReport, versions: Versions) -> None:
    traced = [phase for phase in model.phases if phase.status is Status.TRACED]
    registry = versions.registry
    judged = f"{registry.package} {registry.version} for torch {registry.torch}"
    if not traced:
        return
    first = traced[0]
    # A pipeline's components take what their neighbours give: the assumptions say how much.
    tokens = "" if model.components else f" x {first.seq_len} tokens"
    cached = ", from the cache" if all(phase.cached for phase in traced) else ""
    paper.labelled(
        "traced",
        f"batch {first.batch}{tokens}, {first.tracer} device{cached}",
    )
    installed = ", with its reference kernels installed" if first.reference_kernels else ""
    paper.labelled("judged", f"for {first.chip} by {judged}{installed}")
    write_compiled(paper, traced)


def _write_costs(paper: Paper, phase: PhaseReport, *, titled: bool) -> None:
    total = Cost.of(phase.ops)
    name = title(phase) if titled else "on the TPU"
    rows = [
        _row((support.value, SUPPORT_STYLES[support]), cost, total)
        for support, cost in by_support(phase).items()
    ]
    rows += [_row(_hazard(hazard), cost, total) for hazard, cost in by_hazard(phase).items()]
    paper.blank()
    paper.table((name, "calls", "", "FLOPs", "", "bytes", ""), rows, text=1)
    roles = by_role(phase)
    if len(roles) > 1:
        counts = ", ".join(f"{role.value} {calls:,}" for role, calls in roles.items())
        paper.line(f"  calls by role: {counts}")
    if total.uncounted:
        calls = plural(total.uncounted, "call")
        paper.line(f"  FLOPs of {calls} are not known and count as none.")


def _hazard(hazard: Hazard) -> Cell:
    return (f"! {hazard.value}", "yellow")


def _row(label: Cell, cost: Cost, total: Cost) -> list[Cell]:
    return [
        label,
        f"{cost.calls:,}",
        share(cost.calls, total.calls),
        flops(None if cost.calls and cost.uncounted == cost.calls else cost.flops),
        share(cost.flops, total.flops),
        size(cost.bytes),
        share(cost.bytes, total.bytes),
    ]
