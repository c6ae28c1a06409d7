"""``tpu-audit registry show``: all that is known of an op."""

from __future__ import annotations

import click

from op_registry.loader import load
from tpu_audit.cli.app import current_app
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.op_names import find_or_fail
from tpu_audit.cli.op_view import facts, many_as_json
from tpu_audit.cli.options import format_option, registry_option


@click.command("show", cls=Command)
@click.argument("op")
@registry_option()
@format_option("console", "json")
def command(op: str, registry: str | None, fmt: str) -> None:
    """Show all that is known of an op: schema, resolution, support, hazards, evidence.

    OP is an overload (aten.add.Tensor, aten::add.Tensor) or an op with all its overloads
    (aten.add, add). As JSON, one overload is an object; several are {"ops": [...]}.
    """
    out = current_app().out
    records = find_or_fail(load(registry), op)
    if fmt == "json":
        out.json(many_as_json(records))
        return
    for record in records:
        out.page(record.op, facts(record))
