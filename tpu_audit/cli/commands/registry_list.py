"""``tpu-audit registry list``: ops by support, namespace, hazard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from op_registry.evidence import DTYPES
from op_registry.loader import load
from op_registry.schema import Hazard, OpRecord, Support
from tpu_audit.cli.app import current_app
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.options import format_option, registry_option
from tpu_audit.cli.suggest import did_you_mean
from tpu_audit.types.errors import UsageError
from tpu_audit.types.proof import STRENGTHS, strongest

if TYPE_CHECKING:
    from collections.abc import Iterable

_NONE = "none"
_EVIDENCE = (*(kind.value for kind in reversed(STRENGTHS)), _NONE)


@click.command("list", cls=Command)
@click.option("--support", type=click.Choice([s.value for s in Support]), help="Only this support.")
@click.option("--namespace", metavar="NAME", help="Only ops of this namespace: aten, tpu, prims.")
@click.option("--hazard", type=click.Choice([h.value for h in Hazard]), help="Only this hazard.")
@click.option(
    "--evidence",
    type=click.Choice(_EVIDENCE),
    help="Only ops whose strongest evidence is this, at --dtype or where it is best; none: "
    "missing, undecided or refused.",
)
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    help="Judge evidence at this dtype; without --evidence: only ops that were tried at it.",
)
@click.option(
    "--reference/--no-reference",
    default=None,
    help="Only ops with a reference kernel, or only those without.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N ops.")
@registry_option()
@format_option("console", "json")
def command(limit: int | None, registry: str | None, fmt: str, **filters: Any) -> None:
    """List op overloads with their support, strongest evidence and hazards."""
    out = current_app().out
    snapshot = load(registry)
    wanted = Filter(**filters)
    _check_namespace(wanted.namespace, snapshot.ops)
    found = [record for _, record in sorted(snapshot.ops.items()) if wanted.keeps(record)]
    shown = found[:limit]
    if fmt == "json":
        ops = [_row(record, wanted.dtype) for record in shown]
        out.json({"total": len(found), "ops": ops})
        return
    cells = [_cells(record, wanted.dtype) for record in shown]
    out.table(("op", "support", "evidence", "hazards"), cells)
    hidden = len(found) - len(shown)
    out.note(f"{len(found):,} ops" + (f", {hidden:,} not shown by --limit" if hidden else ""))


@dataclass(frozen=True, kw_only=True, slots=True)
class Filter:
    """Which ops to list; None keeps all."""

    support: str | None
    namespace: str | None
    hazard: str | None
    evidence: str | None
    """The strongest kind of evidence, or ``none``."""
    dtype: str | None
    reference: bool | None

    def keeps(self, record: OpRecord) -> bool:
        """Whether ``record`` passes every filter."""
        return (
            self.support in {None, record.support}
            and (self.namespace is None or record.op.startswith(f"{self.namespace}."))
            and (self.hazard is None or self.hazard in record.hazards)
            and self.reference in {None, record.reference is not None}
            and self._proven(record)
        )

    def _proven(self, record: OpRecord) -> bool:
        if self.evidence is None:
            return self.dtype is None or self.dtype in record.dtypes
        return (strongest(record, self.dtype) or _NONE) == self.evidence


def _check_namespace(namespace: str | None, ops: Iterable[str]) -> None:
    if namespace is None:
        return
    valid = sorted({op.partition(".")[0] for op in ops})
    if namespace not in valid:
        hint = did_you_mean(namespace, valid) or f"namespaces: {', '.join(valid)}"
        raise UsageError(f"no namespace {namespace!r} in the registry", hint=hint)


def _row(record: OpRecord, dtype: str | None) -> dict[str, object]:
    return {
        "op": record.op,
        "support": record.support,
        "evidence": strongest(record, dtype),
        "reference": record.reference,
        "hazards": list(record.hazards),
        "fallback": record.fallback,
        "reason": record.reason,
    }


def _cells(record: OpRecord, dtype: str | None) -> tuple[str, str, str, str]:
    kind = strongest(record, dtype)
    hazards = ", ".join(hazard.value for hazard in record.hazards)
    return record.op, record.support.value, kind.value if kind else "-", hazards
