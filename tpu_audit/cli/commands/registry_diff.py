"""``tpu-audit registry diff``: what another torch-tpu or torch changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from op_registry.loader import load
from tpu_audit.cli.app import current_app
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.options import format_option
from tpu_audit.render.text import plural

if TYPE_CHECKING:
    from op_registry.schema import OpRecord, Snapshot


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One op whose support or hazards differ."""

    op: str
    before: str
    """Support, then hazards: ``native (host_sync)``."""
    after: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """What it takes to get from one registry to another."""

    a: str
    b: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Change, ...]


@click.command("diff", cls=Command)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@format_option("console", "json")
def command(a: str, b: str, fmt: str) -> None:
    """Compare two registries: versions (0.2.0+torch2.13) or snapshot files.

    Shows the ops that only one of them has, and those whose support or hazards differ.
    """
    out = current_app().out
    difference = compare(load(a), load(b))
    if fmt == "json":
        out.json(difference)
        return
    rows = [
        *(("added", op, "") for op in difference.added),
        *(("removed", op, "") for op in difference.removed),
        *(("changed", item.op, f"{item.before} -> {item.after}") for item in difference.changed),
    ]
    out.data(f"{difference.a} -> {difference.b}\n")
    if rows:
        out.table(("change", "op", "support (hazards)"), rows)
    counts = (len(difference.added), len(difference.removed), len(difference.changed))
    out.note("{} added, {} removed, {} changed".format(*counts))


def compare(a: Snapshot, b: Snapshot) -> Difference:
    """Return what changes from ``a`` to ``b``, ops sorted by name."""
    both = sorted(a.ops.keys() & b.ops.keys())
    pairs = ((op, _judged(a.ops[op]), _judged(b.ops[op])) for op in both)
    return Difference(
        a=_name(a),
        b=_name(b),
        added=tuple(sorted(b.ops.keys() - a.ops.keys())),
        removed=tuple(sorted(a.ops.keys() - b.ops.keys())),
        changed=tuple(Change(op=op, before=x, after=y) for op, x, y in pairs if x != y),
    )


def _name(snapshot: Snapshot) -> str:
    count = plural(len(snapshot.ops), "op")
    return f"{snapshot.package} {snapshot.version} for torch {snapshot.torch} ({count})"


def _judged(record: OpRecord) -> str:
    hazards = ", ".join(sorted(hazard.value for hazard in record.hazards))
    return record.support.value + (f" ({hazards})" if hazards else "")
