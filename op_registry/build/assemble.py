"""Joins table, declarations and sample runs into the snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from op_registry.build.declarations import Declaration, delegate_of, has_formula, has_kernel
from op_registry.build.gradients import kept_in_eager, no_gradient
from op_registry.build.host_syncs import host_sync, lowering_evidence
from op_registry.build.observation import Run
from op_registry.build.support import Rules, fallback_of
from op_registry.build.table import Entry
from op_registry.schema import (
    AutocastPolicy,
    Evidence,
    EvidenceKind,
    Hazard,
    OpRecord,
    Resolution,
)

if TYPE_CHECKING:
    from op_registry.build.support import Ruling

_DYNAMIC = {
    "dynamic_output_shape": "the shape of the output depends on the values of the input",
    "data_dependent_output": "the output is a Python value read from the device",
}
_CONDITIONAL = frozenset({"aten.index.Tensor"})
"""Tagged for one kind of argument only (a boolean mask), which the caller has to look at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sources:
    """Everything the records are made from."""

    table: Mapping[str, Entry]
    declared: Mapping[str, Declaration]
    """native_functions.yaml, by dotted op names."""
    formulas: frozenset[str]
    """Ops with a derivative formula, by dotted op names."""
    runs: Mapping[str, Sequence[Run]]
    policies: Mapping[str, AutocastPolicy]
    """How autocast casts the ops that have a kernel for it, by dotted op names."""


def assemble(sources: Sources) -> dict[str, OpRecord]:
    """Return a record for every op of the table."""
    rules = Rules(sources.table, sources.declared, sources.runs)
    return {op: _record(op, rules.rule(op), sources) for op in sources.table}


def _record(op: str, ruling: Ruling, sources: Sources) -> OpRecord:
    entry, declared = sources.table[op], sources.declared
    formula = has_formula(op, sources.formulas)
    hazards = _hazards(entry, sources.runs.get(op, ()), has_formula=formula)
    return OpRecord(
        op=op,
        schema=entry.schema,
        privateuse1=entry.privateuse1,
        autograd=entry.autograd,
        autocast=entry.autocast,
        autocast_policy=sources.policies.get(op),
        support=ruling.support,
        reason=ruling.reason,
        structured_delegate=delegate_of(declared, op),
        ends_in=ruling.ends_in,
        ends_in_how=ruling.how,
        cpu_kernel=entry.cpu_kernel or has_kernel(declared, op, "CPU"),
        cuda_kernel=has_kernel(declared, op, "CUDA"),
        has_derivative=formula or entry.autograd in _SEES_THROUGH,
        composite_implicit=Resolution.COMPOSITE_IMPLICIT in entry.composites,
        eager_gradient=Hazard.NO_GRADIENT in hazards and kept_in_eager(sources.runs.get(op, ())),
        hazards=hazards,
        fallback=fallback_of(ruling, op, sources.table),
        evidence=_evidence(entry, sources.runs.get(op, ())),
    )


_SEES_THROUGH = frozenset({Resolution.COMPOSITE_IMPLICIT, Resolution.KERNEL})
"""What AutogradPrivateUse1 may resolve to that differentiates without a formula."""


def _hazards(entry: Entry, runs: Sequence[Run], *, has_formula: bool) -> dict[Hazard, str]:
    found: dict[Hazard, str] = {}
    kept = kept_in_eager(runs)
    if why := no_gradient(entry, has_formula=has_formula, kept_in_eager=kept):
        found[Hazard.NO_GRADIENT] = why
    for tag, words in _DYNAMIC.items():
        if tag in entry.tags and entry.op not in _CONDITIONAL:
            found[Hazard.DYNAMIC_SHAPE] = words
    if why := host_sync(runs):
        found[Hazard.HOST_SYNC] = why
    return found


def _evidence(entry: Entry, runs: Sequence[Run]) -> tuple[Evidence, ...]:
    place = f" ({entry.place})" if entry.place else ""
    words = f"PrivateUse1 resolves to {entry.privateuse1.value}{place}"
    registered = Evidence(kind=EvidenceKind.REGISTERED, detail=words)
    return (registered, *lowering_evidence(runs))
