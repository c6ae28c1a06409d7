"""One op record for people and for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from op_registry.schema import EvidenceKind
from tpu_audit.render import evidence
from tpu_audit.types.proof import DRAWS

if TYPE_CHECKING:
    from op_registry.schema import Evidence, OpRecord
    from tpu_audit.cli.out import Out


def show(out: Out, record: OpRecord, *more: tuple[str, str]) -> None:
    """Write the page of one overload: facts, evidence by dtype and chip, ``more`` paragraphs."""
    out.page(
        record.op,
        [*facts(record), *more],
        table=evidence.table(record),
        after=[*evidence.emulations(record), *evidence.messages(record)],
    )


def as_json(record: OpRecord) -> dict[str, Any]:
    """Return what ``registry show -f json`` prints of one overload.

    ``dtypes`` holds what verification showed (``evidence.as_json``), ``refusals`` the calls
    that the kernel refuses (``message``, ``when``, ``dtypes``, ``cause``), ``reference_checks``
    dtype -> samples on which the reference kernel agrees with eager PyTorch.
    """
    return {
        "op": record.op,
        "schema": record.schema,
        "resolution": {
            "privateuse1": record.privateuse1,
            "autograd": record.autograd,
            "autocast": record.autocast,
            "autocast_policy": record.autocast_policy,
        },
        "support": record.support,
        "reason": record.reason,
        "hazards": [{"hazard": name, "reason": why} for name, why in record.hazards.items()],
        "fallback": record.fallback,
        "ends_in": record.ends_in,
        "ends_in_how": record.ends_in_how,
        "structured_delegate": record.structured_delegate,
        "kernels": {"cpu": record.cpu_kernel, "cuda": record.cuda_kernel},
        "has_derivative": record.has_derivative,
        "evidence": record.evidence,
        "random": record.random,
        "dtypes": evidence.as_json(record),
        "refusals": record.refusals,
        "reference": record.reference,
        "reference_checks": record.reference_checks,
        "reference_note": record.reference_note,
    }


def many_as_json(records: list[OpRecord]) -> dict[str, Any]:
    """Return one overload as an object, several as ``{"ops": [...]}``."""
    found = [as_json(record) for record in records]
    return found[0] if len(found) == 1 else {"ops": found}


def facts(record: OpRecord) -> list[tuple[str, str]]:
    """Return label and text of everything that is known of ``record``."""
    casts = f" ({record.autocast_policy})" if record.autocast_policy else ""
    keys = (
        f"PrivateUse1 {record.privateuse1}, Autograd {record.autograd}, "
        f"Autocast {record.autocast}{casts}"
    )
    kernels = ("CPU" * record.cpu_kernel, "CUDA" * record.cuda_kernel)
    rows = [
        ("schema", record.schema),
        ("resolves", keys),
        ("support", f"{record.support}: {record.reason}"),
        ("ends in", _ends_in(record)),
        *((f"! {hazard}", why) for hazard, why in record.hazards.items()),
        ("fallback", record.fallback or ""),
        ("kernels", " and ".join(filter(None, kernels)) or "neither CPU nor CUDA"),
        *(("evidence", _evidence(item.kind, item.detail, item.chip)) for item in _listed(record)),
        ("random", DRAWS if record.random else ""),
        *(("refuses", text) for text in evidence.refusals(record)),
        ("reference", evidence.reference(record)),
    ]
    return [(label, text) for label, text in rows if text]


def _listed(record: OpRecord) -> list[Evidence]:
    """Return the evidence that the table by dtype does not show in more detail."""
    tabled = bool(record.dtypes)
    return [e for e in record.evidence if e.kind is EvidenceKind.REGISTERED or not tabled]


def _ends_in(record: OpRecord) -> str:
    if record.ends_in is None:
        return ""
    how = f" ({record.ends_in_how})" if record.ends_in_how else ""
    return (", ".join(record.ends_in) or "no further op") + how


def _evidence(kind: str, detail: str, chip: str | None) -> str:
    return f"{kind}{f' on {chip}' if chip else ''}: {detail}"
