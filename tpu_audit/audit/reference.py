"""Own reference kernels: what installing them would make run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from op_registry.schema import Hazard, Support
from tpu_audit.audit.call import Judgement
from tpu_audit.audit.weigh import meaning

if TYPE_CHECKING:
    from collections.abc import Iterable

    from op_registry.schema import OpRecord, Snapshot

OWN = ("op_registry.reference.kernels.", "op_registry.reference.derived.")
"""Modules whose functions ``op_registry.reference.install()`` registers; other references (torch's
own) only say what an op means."""
INSTALL = "import op_registry.reference; op_registry.reference.install()"


def kernel_of(record: OpRecord | None) -> str | None:
    """Return the import path of the own kernel that can stand in for ``record``'s op, or None.

    None as well where the backend has a working kernel, which is never replaced: only an op that
    is missing, or loses its gradient, takes one.
    """
    if record is None or record.reference is None or not record.reference.startswith(OWN):
        return None
    lacks = record.support is Support.MISSING or Hazard.NO_GRADIENT in record.hazards
    return record.reference if lacks else None


def kernels_for(ops: Iterable[str], snapshot: Snapshot) -> tuple[str, ...] | None:
    """Return the kernels that can stand in for each of ``ops``; None when one has none."""
    found = [kernel_of(snapshot.get(op)) for op in ops]
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
    """Return the judgement of a missing ``op`` once the own kernels are installed."""
    ops = stand_ins(op, judgement.culprits, snapshot)
    if not ops:
        return judgement
    records = [record for name in ops if (record := snapshot.get(name))]
    return Judgement(
        support=Support.NATIVE,
        reason=f"runs on {', '.join(record.reference or '' for record in records)}",
        evidence=tuple(item for record in records for item in meaning(record, judgement.dtype)),
        dtype=judgement.dtype,
        installed=ops,
    )


def install_advice(ops: Iterable[str], snapshot: Snapshot) -> str | None:
    """Return how to install the kernels that stand in for ``ops``, or None without them."""
    kernels = kernels_for(ops, snapshot)
    if kernels is None:
        return None
    noun = "reference kernel" if len(kernels) == 1 else "reference kernels"
    return f"Install the {noun} {', '.join(kernels)} before the model is built: `{INSTALL}`."
