"""``tpu-audit registry show``: all that is known of an op."""

from __future__ import annotations

import click

from op_registry.loader import load
from tpu_audit.cli.app import current_app
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.op_names import find_or_fail
from tpu_audit.cli.op_view import many_as_json, show
from tpu_audit.cli.options import format_option, registry_option


@click.command("show", cls=Command)
@click.argument("op")
@registry_option()
@format_option("console", "json")
def command(op: str, registry: str | None, fmt: str) -> None:
    """Show all that is known of an op: schema, resolution, support, hazards, evidence.

    OP is an overload (aten.add.Tensor, aten::add.Tensor) or an op with all its overloads
    (aten.add, add). As JSON, one overload is an object; several are {"ops": [...]}. Its `dtypes`
    hold for each dtype `strongest`, the steps `lowered`, `compiled` (by chip), `numerics` and
    `gradient` with `passed`, `tried` and `said` (cause, message, samples), and `emulated` (by
    chip); `refusals` hold message, when, dtypes and cause; `random`, `reference`,
    `reference_checks` (by dtype) and `reference_note` say the rest.
    """
    out = current_app().out
    records = find_or_fail(load(registry), op)
    if fmt == "json":
        out.json(many_as_json(records))
        return
    for record in records:
        show(out, record)
