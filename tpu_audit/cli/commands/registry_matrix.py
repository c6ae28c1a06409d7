"""``tpu-audit registry matrix``: evidence by op and dtype, as a page."""

from __future__ import annotations

from pathlib import Path

import click

from op_registry.loader import load
from tpu_audit.cli.app import current_app
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.options import registry_option
from tpu_audit.cli.outputs import check_writable, write_atomically
from tpu_audit.render.matrix import FORMATS
from tpu_audit.types.errors import UsageError


@click.command("matrix", cls=Command)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="PATH",
    help="File to write: .html for the page, .md for the summary.",
)
@registry_option()
def command(output: str, registry: str | None) -> None:
    """Write the evidence of all ops by dtype: one HTML page, or a Markdown summary.

    The page holds the native ops and the missing ones with a reference kernel; it needs no network,
    sorts and filters where JavaScript runs, and reads without it. The summary has the counts, what
    is refused, what disagrees with eager PyTorch, and the ops that draw random numbers.
    """
    path = Path(output)
    render = FORMATS.get(path.suffix.lower())
    if render is None:
        hint = f"end the name with {' or '.join(FORMATS)}"
        raise UsageError(f"no format for the suffix of {output!r}", hint=hint)
    check_writable(path)
    write_atomically(path, render(load(registry)))
    current_app().out.note(f"wrote {path}")
