"""What a target is audited as: one model, or the components of a pipeline, each on its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tpu_audit.types.model import ModelSpec
from tpu_audit.types.report import ComponentReport, Finding, ModelReport, PhaseReport
from tpu_audit.types.trace import Trace


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One model with its phases."""

    spec: ModelSpec
    phases: tuple[PhaseReport, ...]
    findings: tuple[Finding, ...]
    trace: Trace | None
    """The first of its traces."""


def parts_of(spec: ModelSpec) -> tuple[ModelSpec, ...]:
    """Return the components of a pipeline; any other model is its own only part."""
    return spec.components or (spec,)


def named(part: Part) -> Part:
    """Return ``part`` with the component's name in its phases and findings."""
    name = part.spec.component
    if name is None:
        return part
    return replace(
        part,
        phases=tuple(replace(phase, component=name) for phase in part.phases),
        findings=tuple(replace(finding, component=name) for finding in part.findings),
    )


def model_report(spec: ModelSpec, parts: list[Part]) -> ModelReport:
    """Return the report of the target that ``parts`` were audited for."""
    one = parts[0].trace if parts and not spec.components else None
    return ModelReport(
        target=spec.target,
        id=spec.id,
        revision=spec.revision,
        config_source=spec.config_source,
        library=spec.library,
        model_type=spec.model_type,
        architecture=one.architecture if one else spec.architecture,
        parameters=_sum(parts),
        quantisation=None if spec.components else spec.quantisation,
        redirected_from=spec.redirected_from,
        notes=spec.notes,
        components=tuple(_component(part) for part in parts if spec.components),
        phases=tuple(phase for part in parts for phase in part.phases),
    )


def _sum(parts: list[Part]) -> int | None:
    """Return the parameters of all parts, None where one could not be built."""
    counts = [part.trace.parameters for part in parts if part.trace]
    return sum(counts) if counts and len(counts) == len(parts) else None


def _component(part: Part) -> ComponentReport:
    spec, trace = part.spec, part.trace
    return ComponentReport(
        name=spec.component or "",
        library=spec.library,
        model_type=spec.model_type,
        architecture=trace.architecture if trace else spec.architecture,
        parameters=trace.parameters if trace else None,
        quantisation=spec.quantisation,
    )
