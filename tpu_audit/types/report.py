"""The result of a scan: rows with support, hazards and evidence, findings, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from op_registry.schema import Evidence, Fallback, Hazard, Support
from tpu_audit.types.compiled import GraphBreak, Recompile
from tpu_audit.types.trace import Role, Scalar, SourceLine, TensorRef

REPORT_SCHEMA = "tpu-audit/report/1"


class Severity(StrEnum):
    """How much a finding costs its reader."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Status(StrEnum):
    """What became of a phase."""

    TRACED = "traced"
    FAILED = "failed"
    SKIPPED = "skipped"


class Verdict(StrEnum):
    """What a phase means for the move."""

    READY = "ready"
    READY_WITH_WARNINGS = "ready_with_warnings"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class OpRow:
    """One distinct call, judged."""

    op: str
    count: int
    inputs: tuple[TensorRef, ...]
    outputs: tuple[TensorRef, ...]
    args: Mapping[str, Scalar]
    flops: int | None
    bytes: int
    support: Support
    hazards: tuple[Hazard, ...]
    hazard_reasons: Mapping[Hazard, str] = field(default_factory=dict)
    """Why each hazard, one sentence each."""
    evidence: tuple[Evidence, ...]
    """What the support rests on, the strongest first; what the op means (``reference``) last."""
    random: bool = False
    """The op may draw random numbers; a call that does rests on registration: no host without a
    TPU can prove more."""
    reason: str
    """Why this support."""
    fallback: Fallback | None
    modules: tuple[str, ...]
    sources: tuple[SourceLine, ...]
    guesses: int
    role: Role = Role.MODEL
    """Who issued the call: the model, generation's bookkeeping, the loss, the backward pass..."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CompileReport:
    """The same phase under ``torch.compile``: a judgement of its own."""

    status: Status
    stage: str | None = None
    """Where it stopped, for one that failed or was skipped."""
    reason: str | None = None
    """Why, as a sentence."""
    reason_code: str | None = None
    """Why, as a stable slug."""
    verdict: Verdict
    graphs: int = 0
    """Graphs that the first call compiled."""
    launches: int = 0
    """Graphs that one call runs; more than ``graphs`` where layers share one."""
    breaks: tuple[GraphBreak, ...] = ()
    """Where Dynamo stopped, and why."""
    recompiles: tuple[Recompile, ...] = ()
    """Calls after the first, each with one thing changed, and whether they compiled anew."""
    ops: tuple[OpRow, ...] = ()
    """Calls of ops that the graphs make and the eager phase does not, judged."""
    assumptions: tuple[str, ...] = ()
    cached: bool = False
    """It came from the cache."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PhaseReport:
    """One phase of one model at one dtype."""

    component: str | None = None
    """For a pipeline, the name of the component: ``unet``."""
    phase: str
    dtype: str
    status: Status
    stage: str | None = None
    """Where it stopped, for a failed or skipped phase."""
    reason: str | None = None
    """Why, as a sentence."""
    reason_code: str | None = None
    """Why, as a stable slug."""
    verdict: Verdict
    """Of a phase that was not traced ``unknown``, or ``blocked`` where its files alone show that it
    cannot run."""
    ops: tuple[OpRow, ...] = ()
    cpu_ops: Mapping[str, int] = field(default_factory=dict)
    batch: int
    seq_len: int
    tracer: str
    variant: str = ""
    """How the phase was run, where there is a choice: ``static cache, eager attention``."""
    chip: str = "v6e"
    """TPU generation that the calls were judged for."""
    reference_kernels: bool = False
    """Judged as if the registry's reference kernels were installed."""
    assumptions: tuple[str, ...] = ()
    stand_in: str | None = None
    """What was traced in place of a class that only the repository's code has, and why."""
    cached: bool = False
    """The trace came from the cache."""
    compiled: CompileReport | None = None
    """The phase under ``torch.compile``, where that was asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ComponentReport:
    """A component of a pipeline that computes on the device; its phases bear its name."""

    name: str
    """Its name in the pipeline: ``text_encoder_2``."""
    library: str
    model_type: str | None = None
    architecture: str | None = None
    parameters: int | None = None
    quantisation: str | None = None
    """How its checkpoint is quantised; its phases are those of the dense model."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unread:
    """A file, or a part of one, that could not be read."""

    path: str
    line: int | None = None
    code: str
    """Why, as a stable slug: ``syntax``, ``encoding``, ``permission``, ``too_large``..."""
    reason: str
    """Why, as a sentence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeCheck:
    """What was read of a model's own code and configs; none of it was run."""

    files: Mapping[str, int] = field(default_factory=dict)
    """Files checked, by kind."""
    loaded: tuple[str, ...] = ()
    """Python files that run when the model is loaded with its own code: those that ``auto_map``
    names, and what they import from the repository."""
    runs: bool = False
    """That code is what runs: transformers has no class for the model."""
    suppressed: int = 0
    """Findings that comments in the files leave out."""
    unread: tuple[Unread, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelReport:
    """One target."""

    target: str
    id: str
    revision: str | None = None
    config_source: str | None = None
    library: str | None = None
    model_type: str | None = None
    architecture: str | None = None
    parameters: int | None = None
    """For a pipeline, those of all components, where all could be built."""
    quantisation: str | None = None
    """How the checkpoint is quantised; the phases are those of the dense model."""
    redirected_from: str | None = None
    notes: tuple[str, ...] = ()
    components: tuple[ComponentReport, ...] = ()
    """What a pipeline is made of: it is ready when each of them is."""
    code: CodeCheck | None = None
    """What the checker read of the model's files; None when it did not look."""
    phases: tuple[PhaseReport, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Location:
    """Where a finding sits; whatever is known of it."""

    path: str | None = None
    line: int | None = None
    """Counted from 1."""
    column: int | None = None
    """Counted from 1, in Unicode code points."""
    module: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing to do something about."""

    code: str
    """Stable code: ``TPA9xx`` for ops, the others for code and files."""
    severity: Severity
    message: str
    fix: str
    model: str | None = None
    """Id of the model; None where files were checked, not a model."""
    component: str | None = None
    """For a pipeline, the component's name."""
    phase: str | None = None
    """The traced phase; None for a finding in a file."""
    dtype: str | None = None
    op: str | None = None
    location: Location
    count: int = 1
    """Calls concerned."""
    bytes: int = 0
    """Bytes that would cross between host and device, where that is the cost."""
    modules: tuple[str, ...] = ()
    sources: tuple[SourceLine, ...] = ()
    cause: str = ""
    """Findings of one code and cause go away with the same kind of change; empty where the message
    is the cause."""
    fixable: str | None = None
    """How far the tool's own repair may be trusted: ``safe``, ``unsafe`` or ``display``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolInfo:
    """Who wrote the report."""

    name: str = "tpu-audit"
    version: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RegistryInfo:
    """Which registry judged."""

    backend: str
    package: str
    version: str
    torch: str
    digest: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Versions:
    """Versions the result depends on."""

    torch: str | None
    transformers: str | None
    libraries: Mapping[str, str] = field(default_factory=dict)
    """Versions of diffusers, timm and peft, where a model needed one of them."""
    registry: RegistryInfo


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What ``scan`` returns and the JSON report holds."""

    schema: str = REPORT_SCHEMA
    tool: ToolInfo
    versions: Versions
    models: tuple[ModelReport, ...]
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences on the run: a registry that does not match the installed torch, for one."""
