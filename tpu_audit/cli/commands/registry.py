"""``tpu-audit registry``: what the backend supports, op by op, without torch."""

from __future__ import annotations

import click

from tpu_audit.cli.lazy import Lazy, LazyGroup

_HERE = "tpu_audit.cli.commands"

COMMANDS = {
    "list": Lazy(module=f"{_HERE}.registry_list", help="List ops with their support and hazards."),
    "show": Lazy(module=f"{_HERE}.registry_show", help="Show all that is known of an op."),
    "stats": Lazy(module=f"{_HERE}.registry_stats", help="Count ops by support and resolution."),
    "diff": Lazy(module=f"{_HERE}.registry_diff", help="Compare two registries."),
    "matrix": Lazy(module=f"{_HERE}.registry_matrix", help="Write evidence by op and dtype."),
    "build": Lazy(module=f"{_HERE}.registry_build", help="Extract one from a torch-tpu wheel."),
    "verify": Lazy(module=f"{_HERE}.registry_verify", help="Prove what one claims, op by op."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
def command() -> None:
    """Look into the registry: what TorchTPU does with each op overload of PyTorch."""
