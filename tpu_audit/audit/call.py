"""One judged call, as the detectors look at it, and what a detector answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from op_registry.evidence import DtypeEvidence
from op_registry.schema import Evidence, Fallback, Hazard, OpRecord, Snapshot, Support
from op_registry.toolchain.chips import DEFAULT_CHIP
from tpu_audit.audit.code import Code
from tpu_audit.audit.sizes import total
from tpu_audit.types.report import Severity
from tpu_audit.types.trace import OpUse, TraceSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.types.trace import TensorRef


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """Whether one call runs, and on which grounds."""

    support: Support
    reason: str
    evidence: tuple[Evidence, ...] = ()
    fallback: Fallback | None = None
    culprits: tuple[str, ...] = ()
    """The overloads that lack a kernel, or that are not decided: the op or pieces of it."""
    dtype: str | None = None
    """Dtype under which evidence of the call is filed, for a call with a kernel."""
    known: DtypeEvidence | None = None
    """What verification showed of the op at that dtype."""
    installed: tuple[str, ...] = ()
    """The overloads that reference kernels stand in for, where the model is judged with them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Platform:
    """What the calls are to run on."""

    chip: str = DEFAULT_CHIP
    """TPU generation: a key of ``op_registry.toolchain.chips.CHIPS``."""
    reference_kernels: bool = False
    """Whether the registry's own reference kernels are installed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A distinct call with all that may decide its hazards."""

    use: OpUse
    record: OpRecord | None
    judgement: Judgement
    snapshot: Snapshot
    settings: TraceSettings
    platform: Platform

    @property
    def tensors(self) -> Iterator[TensorRef]:
        """Inputs, then outputs."""
        yield from self.use.inputs
        yield from self.use.outputs

    @property
    def on_device(self) -> Iterator[TensorRef]:
        """The tensors that live on the TPU."""
        return (t for t in self.tensors if t.device == self.snapshot.backend)

    @property
    def traffic(self) -> int:
        """Bytes of all inputs and outputs of all calls."""
        return total(self.tensors) * self.use.count

    @property
    def packet(self) -> str:
        """The op without its overload: ``aten.index``."""
        return self.use.op.rpartition(".")[0]

    def is_view(self) -> bool:
        """Whether the call only relabels memory: it moves no bytes and computes nothing."""
        return self.use.bytes == 0 and not self.use.flops

    def emulation(self) -> str:
        """Return what the op emulates when compiled for the chip, in words; empty: nothing."""
        known = self.judgement.known
        words = known.emulated.get(self.platform.chip) if known else None
        return f"compiled for {self.platform.chip} it emulates {words}" if words else ""

    def registry_hazard(self, hazard: Hazard) -> str | None:
        """Return the registry's reason for ``hazard`` on this op, or None."""
        return self.record.hazards.get(hazard) if self.record else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A detector's answer for one call."""

    code: Code
    reason: str
    """One sentence that reads after ``<op>: ``."""
    hazard: Hazard | None = None
    """The hazard it puts on the row; None for what is no hazard of the op."""
    severity: Severity | None = None
    """Severity where it differs from the code's."""
    fix: str | None = None
    """What to do, where it is more specific than the code's text."""
    cause: str = ""
    """Calls with the same code, op and cause make one finding."""
    about_op: bool = True
    """False where the cause is not the op's (a dtype of the whole phase): one finding for all."""
    bytes: int = 0
    """Bytes of all calls that cross between host and device, where that is the cost."""
    traffic: str = ""
    """Sentence on those bytes, with ``{bytes}`` for the sum over the finding."""
