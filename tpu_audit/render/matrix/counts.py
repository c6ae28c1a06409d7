"""What a registry's evidence adds up to: by dtype, by kind, by reference."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from op_registry.evidence import DTYPES, of
from op_registry.schema import EvidenceKind, Support
from tpu_audit.types.proof import STRENGTHS, Standing, disagreement, standing, strongest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.evidence import Said
    from op_registry.schema import OpRecord, Snapshot

OWN = "op_registry."
"""Where reference kernels of the registry's own live; the others are torch's."""


def native(snapshot: Snapshot) -> list[OpRecord]:
    """Return the ops with a kernel of the backend, by name."""
    return [record for _, record in sorted(snapshot.ops.items()) if _is_native(record)]


def _is_native(record: OpRecord) -> bool:
    return record.support is Support.NATIVE


def by_dtype(snapshot: Snapshot) -> dict[str, dict[Standing, int]]:
    """Return dtype -> how native ops stand at it -> ops, dtypes and standings in fixed order."""
    records = native(snapshot)
    counts = {dtype: Counter(standing(record, dtype) for record in records) for dtype in DTYPES}
    return {dtype: {stand: found[stand] for stand in Standing} for dtype, found in counts.items()}


def by_strongest(snapshot: Snapshot) -> dict[str, int]:
    """Return kind of evidence -> native ops of which it is the strongest, at whichever dtype.

    ``refused`` counts native ops that are refused at every dtype that was tried.
    """
    found = Counter(strongest(record) for record in native(snapshot))
    kinds: dict[str, EvidenceKind | None] = {kind.value: kind for kind in STRENGTHS}
    return {name: found[kind] for name, kind in {**kinds, "refused": None}.items()}


def references(snapshot: Snapshot) -> dict[str, int]:
    """Count the reference kernels: whose they are, for which ops, and native ops without one."""
    records = snapshot.ops.values()
    with_one = [record for record in records if record.reference is not None]
    own = [record for record in with_one if (record.reference or "").startswith(OWN)]
    return {
        "own": len(own),
        "torch": len(with_one) - len(own),
        "for_native": sum(map(_is_native, with_one)),
        "for_missing": sum(record.support is Support.MISSING for record in with_one),
        "native_without": sum(r.reference is None for r in records if _is_native(r)),
        "checked": sum(bool(record.reference_checks) for record in with_one),
    }


def random_ops(snapshot: Snapshot) -> list[str]:
    """Return the native ops that draw random numbers."""
    return [record.op for record in native(snapshot) if record.random]


def disagreements(snapshot: Snapshot) -> Iterator[tuple[str, str, Said]]:
    """Yield op, dtype and what differs from eager PyTorch, for every kernel that disagrees."""
    for record in native(snapshot):
        for dtype in DTYPES:
            known = of(record, dtype)
            if known and (said := disagreement(known)):
                yield record.op, dtype, said
