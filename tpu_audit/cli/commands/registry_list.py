"""``tpu-audit registry list``: ops by support, namespace, hazard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from op_registry.loader import load
from op_registry.schema import Hazard, OpRecord, Support
from tpu_audit.cli.app import current_app
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.options import format_option, registry_option
from tpu_audit.cli.suggest import did_you_mean
from tpu_audit.types.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable


@click.command("list", cls=Command)
@click.option("--support", type=click.Choice([s.value for s in Support]), help="Only this support.")
@click.option("--namespace", metavar="NAME", help="Only ops of this namespace: aten, tpu, prims.")
@click.option("--hazard", type=click.Choice([h.value for h in Hazard]), help="Only this hazard.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N ops.")
@registry_option()
@format_option("console", "json")
def command(
    support: str | None,
    namespace: str | None,
    hazard: str | None,
    limit: int | None,
    registry: str | None,
    fmt: str,
) -> None:
    """List op overloads with their support and hazards."""
    out = current_app().out
    snapshot = load(registry)
    _check_namespace(namespace, snapshot.ops)
    found = [
        record
        for _, record in sorted(snapshot.ops.items())
        if (support is None or record.support == support)
        and (namespace is None or record.op.startswith(f"{namespace}."))
        and (hazard is None or hazard in record.hazards)
    ]
    shown = found[:limit]
    if fmt == "json":
        out.json({"total": len(found), "ops": [_row(record) for record in shown]})
        return
    out.table(("op", "support", "hazards"), [_cells(record) for record in shown])
    hidden = len(found) - len(shown)
    out.note(f"{len(found):,} ops" + (f", {hidden:,} not shown by --limit" if hidden else ""))


def _check_namespace(namespace: str | None, ops: Iterable[str]) -> None:
    if namespace is None:
        return
    valid = sorted({op.partition(".")[0] for op in ops})
    if namespace not in valid:
        hint = did_you_mean(namespace, valid) or f"namespaces: {', '.join(valid)}"
        raise UsageError(f"no namespace {namespace!r} in the registry", hint=hint)


def _row(record: OpRecord) -> dict[str, object]:
    return {
        "op": record.op,
        "support": record.support,
        "hazards": list(record.hazards),
        "fallback": record.fallback,
        "reason": record.reason,
    }


def _cells(record: OpRecord) -> tuple[str, str, str]:
    return record.op, record.support.value, ", ".join(hazard.value for hazard in record.hazards)
