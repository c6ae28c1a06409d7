"""Own reference kernels: what installing them would make run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from op_registry.schema import Evidence, EvidenceKind, Hazard, Support
from tpu_audit.audit.call import Judgement
from tpu_audit.audit.declared import PACKAGE, declared_kernels
from tpu_audit.audit.facts import meaning

if TYPE_CHECKING:
    from collections.abc import Iterable

    from op_registry.schema import OpRecord, Snapshot

KEEPING_GRADIENT = "op_registry.reference.keep_gradient"
"""What it registers for ops whose TPU kernel loses the gradient: calls that need one go to
PyTorch's own composite definition."""
INSTALL = "import op_registry.reference; op_registry.reference.install()"
KEEP_GRADIENT = f"Install {KEEPING_GRADIENT} before the model is built: `{INSTALL}`."
"""What to do about an op for which :func:`keeps_gradient` holds."""


def kernel_of(op: str, snapshot: Snapshot) -> str | None:
    """Return the import path of the own kernel that can stand in for ``op``, or None.

    None where the backend has a kernel, which is never replaced, and where the reference is
    torch's own, which only says what the op means.
    """
    record = snapshot.get(op)
    if record is None:
        return declared_kernels().get(op)
    if record.support is not Support.MISSING or record.reference is None:
        return None
    return record.reference if record.reference.startswith(f"{PACKAGE}.") else None


def keeps_gradient(record: OpRecord | None) -> bool:
    """Whether installing keeps the gradient that ``record``'s TPU kernel loses."""
    loses = record is not None and Hazard.NO_GRADIENT in record.hazards
    return loses and record is not None and record.composite_implicit


def kernels_for(ops: Iterable[str], snapshot: Snapshot) -> tuple[str, ...] | None:
    """Return the kernels that can stand in for each of ``ops``; None when one has none."""
    found = [kernel_of(op, snapshot) for op in ops]
    kernels = [kernel for kernel in found if kernel]
    return tuple(kernels) if found and len(kernels) == len(found) else None


def stand_ins(op: str, culprits: tuple[str, ...], snapshot: Snapshot) -> tuple[str, ...]:
    """Return the overloads that have to be given a kernel for ``op`` to run; empty: cannot be.

    The op itself where it has one, else every piece that is missing.
    """
    for ops in ((op,), culprits):
        if kernels_for(ops, snapshot):
            return ops
    return ()


def as_installed(judgement: Judgement, op: str, snapshot: Snapshot) -> Judgement:
    """Return the judgement of ``op``, which has no kernel, once the own kernels are installed."""
    ops = stand_ins(op, judgement.culprits, snapshot)
    kernels = kernels_for(ops, snapshot)
    if kernels is None or any(_fails(snapshot.get(name), judgement.dtype) for name in ops):
        return judgement
    evidence = [
        _checked(kernel, snapshot.get(name), judgement.dtype)
        for kernel, name in zip(kernels, ops, strict=True)
    ]
    return Judgement(
        support=Support.NATIVE,
        reason=f"runs on {', '.join(kernels)}",
        evidence=tuple(evidence),
        dtype=judgement.dtype,
        installed=ops,
    )


def _fails(record: OpRecord | None, dtype: str | None) -> bool:
    """Whether the kernel was checked at ``dtype`` and agreed with eager PyTorch in no sample."""
    check = record.reference_checks.get(dtype or "", "") if record else ""
    return check.startswith("0/")


def _checked(kernel: str, record: OpRecord | None, dtype: str | None) -> Evidence:
    """Return the kernel with its check, which only a record can tell."""
    known = meaning(record, dtype) if record else ()
    return known[0] if known else Evidence(kind=EvidenceKind.REFERENCE, detail=kernel)


def install_advice(ops: Iterable[str], snapshot: Snapshot) -> str | None:
    """Return how to install the kernels that stand in for ``ops``, or None without them."""
    kernels = kernels_for(ops, snapshot)
    if kernels is None:
        return None
    noun = "reference kernel" if len(kernels) == 1 else "reference kernels"
    return f"Install the {noun} {', '.join(kernels)} before the model is built: `{INSTALL}`."


def advice_for(record: OpRecord, snapshot: Snapshot) -> str | None:
    """Return what installing reference kernels does for an op, or None where it does nothing."""
    if keeps_gradient(record):
        return KEEP_GRADIENT
    pieces = [piece for op in record.ends_in or () if (piece := snapshot.get(op))]
    missing = tuple(piece.op for piece in pieces if piece.support is Support.MISSING)
    return install_advice(stand_ins(record.op, missing, snapshot), snapshot)
