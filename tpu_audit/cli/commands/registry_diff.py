"""``tpu-audit registry diff``: what another torch-tpu or torch changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from op_registry.loader import load
from tpu_audit.cli.app import current_app
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.options import format_option
from tpu_audit.render import evidence
from tpu_audit.render.text import plural
from tpu_audit.types.proof import standing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.schema import OpRecord, Snapshot


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One op whose support or hazards differ."""

    op: str
    before: str
    """Support, then hazards: ``native (host_sync)``."""
    after: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """One op of which verification says something else."""

    op: str
    changes: tuple[str, ...]
    """``float64: numerics -> refused``, ``refuses ...``, ``reference: none -> ...``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """What it takes to get from one registry to another."""

    a: str
    b: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Change, ...]
    evidence: tuple[Evidence, ...]


@click.command("diff", cls=Command)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@format_option("console", "json")
def command(a: str, b: str, fmt: str) -> None:
    """Compare two registries: versions (0.2.0+torch2.13) or snapshot files.

    Shows the ops that only one of them has, those whose support or hazards differ, and those of
    which verification says something else: a dtype gained or lost, a refusal, a reference kernel.
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
        *(("evidence", item.op, "; ".join(item.changes)) for item in difference.evidence),
    ]
    out.data(f"{difference.a} -> {difference.b}\n")
    if rows:
        out.table(("change", "op", "support (hazards), evidence"), rows)
    parts = ("added", "removed", "changed", "evidence")
    counts = {part: len(getattr(difference, part)) for part in parts}
    out.note(
        "{added} added, {removed} removed, {changed} changed, {evidence} with other "
        "evidence".format(**counts)
    )


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
        evidence=tuple(
            Evidence(op=op, changes=changes)
            for op in both
            if (changes := tuple(_changes(a.ops[op], b.ops[op])))
        ),
    )


def _name(snapshot: Snapshot) -> str:
    count = plural(len(snapshot.ops), "op")
    return f"{snapshot.package} {snapshot.version} for torch {snapshot.torch} ({count})"


def _judged(record: OpRecord) -> str:
    hazards = ", ".join(sorted(hazard.value for hazard in record.hazards))
    return record.support.value + (f" ({hazards})" if hazards else "")


def _changes(a: OpRecord, b: OpRecord) -> Iterator[str]:
    moved: dict[str, list[str]] = {}
    for dtype in dict.fromkeys((*evidence.known_dtypes(a), *evidence.known_dtypes(b))):
        before, after = standing(a, dtype), standing(b, dtype)
        if before is not after:
            moved.setdefault(f"{before} -> {after}", []).append(dtype)
    yield from (f"{', '.join(dtypes)}: {move}" for move, dtypes in moved.items())
    old, new = set(evidence.refusals(a)), set(evidence.refusals(b))
    yield from (f"refuses {text}" for text in sorted(new - old))
    yield from (f"no longer refuses {text}" for text in sorted(old - new))
    if a.reference != b.reference:
        yield f"reference: {a.reference or 'none'} -> {b.reference or 'none'}"
