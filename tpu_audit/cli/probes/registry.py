"""The registry in force, and whether it fits the installed torch."""

from __future__ import annotations

from op_registry.errors import RegistryError
from op_registry.loader import installed_torch, load, mismatch
from tpu_audit.cli.probes.check import Check, Health


def check_registry(name: str | None) -> Check:
    """Load the registry ``name``, or the default one."""
    try:
        snapshot = load(name)
    except RegistryError as error:
        return Check(name="registry", health=Health.BROKEN, detail=error.message, hint=error.hint)
    detail = (
        f"{snapshot.package} {snapshot.version} for torch {snapshot.torch}, "
        f"{len(snapshot.ops):,} ops, digest {snapshot.digest}"
    )
    problem = mismatch(snapshot, installed_torch())
    health = Health.WARNING if problem else Health.OK
    return Check(name="registry", health=health, detail=detail, hint=problem)
