"""``tpu-audit registry stats``: counts."""

from __future__ import annotations

from collections import Counter

import click

from op_registry.loader import load
from op_registry.schema import Hazard, Snapshot, Support
from tpu_audit.cli.app import current_app
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.options import format_option, registry_option


@click.command("stats", cls=Command)
@registry_option()
@format_option("console", "json")
def command(registry: str | None, fmt: str) -> None:
    """Count op overloads by namespace, support, resolution and hazard."""
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
    for title, counts in (("resolution", resolutions(snapshot)), ("hazard", hazards(snapshot))):
        out.data("\n")
        out.table((title, "ops"), [(name, f"{count:,}") for name, count in counts.items()])


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
