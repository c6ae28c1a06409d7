"""``tpu-audit registry stats``: counts."""

from __future__ import annotations

from collections import Counter

import click

from op_registry.loader import load
from op_registry.schema import Hazard, Snapshot, Support
from tpu_audit.cli.app import current_app
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.options import format_option, registry_option
from tpu_audit.render.matrix import counts as evidence
from tpu_audit.types.proof import Standing


@click.command("stats", cls=Command)
@registry_option()
@format_option("console", "json")
def command(registry: str | None, fmt: str) -> None:
    """Count op overloads by namespace, support, resolution, hazard, evidence and reference.

    Evidence is counted over the native ops: by the strongest at each dtype (numerics, compiled,
    lowered; registered: tried, nothing proven; refused; untried), and by the strongest of all.
    """
    out = current_app().out
    snapshot = load(registry)
    if fmt == "json":
        out.json(stats(snapshot))
        return
    made = ", ".join(f"{name} {version}" for name, version in sorted(snapshot.versions.items()))
    out.data(f"{snapshot.package} {snapshot.version} for torch {snapshot.torch} ({made})\n")
    out.data(f"digest {snapshot.digest}\n\n")
    spaces = by_namespace(snapshot)
    header = ("namespace", "ops", *(support.value for support in Support))
    out.table(header, [(name, *map(str, counts.values())) for name, counts in spaces.items()])
    tables = {
        "resolution": resolutions(snapshot),
        "hazard": hazards(snapshot),
        "strongest evidence": evidence.by_strongest(snapshot),
        "reference": evidence.references(snapshot),
        "verification": verification(snapshot),
    }
    for title, counts in tables.items():
        out.data("\n")
        out.table((title, "ops"), [(name, f"{count:,}") for name, count in counts.items()])
    out.data("\n")
    found = evidence.by_dtype(snapshot)
    rows = [(dtype, *map(str, counts.values())) for dtype, counts in found.items()]
    out.table(("native ops at", *(stand.value for stand in Standing)), rows)


def stats(snapshot: Snapshot) -> dict[str, object]:
    """Return all counts of ``snapshot`` with what names it."""
    return {
        "backend": snapshot.backend,
        "package": snapshot.package,
        "version": snapshot.version,
        "torch": snapshot.torch,
        "versions": snapshot.versions,
        "digest": snapshot.digest,
        "total": len(snapshot.ops),
        "namespaces": by_namespace(snapshot),
        "resolution": resolutions(snapshot),
        "hazards": hazards(snapshot),
        "evidence": {
            "strongest": evidence.by_strongest(snapshot),
            "dtypes": evidence.by_dtype(snapshot),
        },
        "references": evidence.references(snapshot),
        "verification": verification(snapshot),
    }


def verification(snapshot: Snapshot) -> dict[str, int]:
    """Return the ops that refuse some calls, disagree with eager PyTorch, draw random numbers."""
    return {
        "refuse_some_calls": sum(bool(record.refusals) for record in snapshot.ops.values()),
        "disagree_with_eager": len({op for op, _, _ in evidence.disagreements(snapshot)}),
        "draw_random_numbers": len(evidence.random_ops(snapshot)),
    }


def by_namespace(snapshot: Snapshot) -> dict[str, dict[str, int]]:
    """Return namespace -> overloads in all and by support; the largest namespace first."""
    counts: dict[str, Counter[str]] = {}
    for op, record in snapshot.ops.items():
        counts.setdefault(op.partition(".")[0], Counter())[record.support] += 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
    return {
        name: {"total": found.total(), **{support.value: found[support] for support in Support}}
        for name, found in ordered
    }


def resolutions(snapshot: Snapshot) -> dict[str, int]:
    """Return what PrivateUse1 resolves to -> overloads."""
    found = Counter(record.privateuse1.value for record in snapshot.ops.values())
    return dict(found.most_common())


def hazards(snapshot: Snapshot) -> dict[str, int]:
    """Return hazard -> overloads that carry it whatever they are called with."""
    found = Counter(hazard for record in snapshot.ops.values() for hazard in record.hazards)
    return {hazard.value: found[hazard] for hazard in Hazard if found[hazard]}
