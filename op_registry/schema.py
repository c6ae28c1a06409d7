"""The registry's vocabulary: what a backend does with an op overload, and on which evidence.

Plain dataclasses over the standard library, so that the snapshot builder can run in any
interpreter that has the backend's wheel, without this tool's own dependencies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from op_registry.evidence import Refusal

SNAPSHOT_SCHEMA = "tpu-audit/registry/1"


class Support(StrEnum):
    """Whether a call runs on the backend."""

    NATIVE = "native"
    """A backend kernel, directly or through composites that all end in backend kernels."""
    MISSING = "missing"
    """Raises: no kernel. A CPU fallback, where one exists, is off by default."""
    REJECTED = "rejected"
    """A kernel exists and refuses this dtype or argument."""
    UNKNOWN = "unknown"
    """Not decided; the reason says why. Never counted as native."""


class Hazard(StrEnum):
    """What hurts although the call runs."""

    HOST_SYNC = "host_sync"
    DYNAMIC_SHAPE = "dynamic_shape"
    EMULATED = "emulated"
    SLOW_PATH = "slow_path"
    TRANSFER = "transfer"
    NO_GRADIENT = "no_gradient"


class Fallback(StrEnum):
    """What a missing op could do if the CPU fallback were switched on."""

    CPU_IF_ENABLED = "cpu_if_enabled"
    NEVER = "never"


class EvidenceKind(StrEnum):
    """How a claim was established, from weakest to strongest."""

    REGISTERED = "registered"
    LOWERED = "lowered"
    COMPILED = "compiled"
    NUMERICS = "numerics"
    REFERENCE = "reference"


class AutocastPolicy(StrEnum):
    """How autocast casts the floating-point arguments of an op, except float64 ones."""

    LOWER_PRECISION = "lower_precision"
    """To the dtype that autocast was asked for."""
    FP32 = "fp32"
    """To float32."""
    FP32_RESULT = "fp32_result"
    """Not at all: the op is told to give float32, unless the call names a dtype itself."""
    PROMOTE = "promote"
    """To the widest dtype among them."""


class Resolution(StrEnum):
    """What a dispatch key resolves to for one op overload, read from the dispatcher's table."""

    KERNEL = "kernel"
    """Registered for this very key: at AutogradPrivateUse1, the backend's own autograd kernel."""
    COMPOSITE_IMPLICIT = "composite_implicit"
    COMPOSITE_EXPLICIT = "composite_explicit"
    COMPOSITE_EXPLICIT_NON_FUNCTIONAL = "composite_explicit_non_functional"
    FALLTHROUGH = "fallthrough"
    FALLBACK = "fallback"
    AUTOGRAD_KERNEL = "autograd_kernel"
    """PyTorch's own for all backends: a derivative formula, or the error that there is none."""
    NONE = "none"


class EndsIn(StrEnum):
    """How the ops a composite ends in became known."""

    STRUCTURED = "structured"
    """The schema's structured ``.out`` delegate."""
    OBSERVED = "observed"
    """The calls of a sample run."""
    GENERATED = "generated"
    """The declaration says of which other op torchgen generated this form (``out=``, copying)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """One reason to believe a verdict."""

    kind: EvidenceKind
    detail: str
    """What was seen, in words: a dispatch-table entry, an error message, a compiler's answer."""
    chip: str | None = None
    """TPU generation the evidence holds for (``v6e``), or None when it does not depend on it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpRecord:
    """All that is known of one op overload on one backend."""

    op: str
    """``namespace.name.overload``, the default overload spelled out: ``aten.linear.default``."""
    schema: str
    """The dispatcher's schema string."""
    privateuse1: Resolution
    autograd: Resolution
    """What AutogradPrivateUse1 resolves to."""
    autocast: Resolution
    """What AutocastPrivateUse1 resolves to."""
    support: Support
    reason: str
    """One sentence: why this support."""
    autocast_policy: AutocastPolicy | None = None
    """What the kernel at AutocastPrivateUse1 does, seen in calls of the wheel; None: there is no
    such kernel, or no call showed it."""
    structured_delegate: str | None = None
    ends_in: tuple[str, ...] | None = None
    """The ops that a composite ends in, or None when not a composite or not known."""
    ends_in_how: EndsIn | None = None
    cpu_kernel: bool = False
    cuda_kernel: bool = False
    has_derivative: bool = False
    """A derivative formula or a composite-implicit definition that autograd sees through."""
    composite_implicit: bool = False
    """A CompositeImplicitAutograd kernel exists, whatever PrivateUse1 resolves to."""
    eager_gradient: bool = False
    """Loses the gradient only where a call is traced into a graph: eager calls keep it."""
    hazards: Mapping[Hazard, str] = field(default_factory=dict)
    """Hazard -> why, for hazards the table alone decides."""
    fallback: Fallback | None = None
    evidence: tuple[Evidence, ...] = ()
    reference: str | None = None
    """Import path of the reference kernel that defines the op, if there is one."""
    reference_checks: Mapping[str, str] = field(default_factory=dict)
    """Dtype -> samples on which the reference kernel agreed with eager PyTorch (``12/12``)."""
    reference_note: str = ""
    """Why the op has no reference kernel, where that is known."""
    random: bool = False
    """Draws random numbers: without a device its kernel cannot be lowered."""
    dtypes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Dtype -> evidence in its stored form; ``op_registry.evidence.of`` reads it."""
    refusals: tuple[Refusal, ...] = ()
    """Calls that the backend's kernel refuses."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """A registry extracted from one wheel in one environment."""

    schema: str = SNAPSHOT_SCHEMA
    backend: str
    """Device type: ``tpu``."""
    package: str
    """Distribution that holds the kernels: ``torch-tpu``."""
    version: str
    """Version of that distribution."""
    torch: str
    """torch version the snapshot was made with, without the local part: ``2.13.0``."""
    versions: Mapping[str, str]
    """Every version that matters: torch (full), torch-tpu, libtpu, python."""
    record_sha256: str
    """SHA-256 of the wheel's RECORD file: names every file of the wheel by its hash."""
    ops: Mapping[str, OpRecord]
    digest: str = ""
    """SHA-256 over the canonical content; filled in by the loader, never stored."""

    def get(self, op: str) -> OpRecord | None:
        """Return the record of ``op`` (``aten.add.Tensor``), or None when the wheel lacks it."""
        return self.ops.get(op)
