"""``tpu-audit registry build``: extract a registry from an installed torch-tpu wheel."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from op_registry.build import build
from tpu_audit.cli.app import current_app
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.options import format_option
from tpu_audit.cli.outputs import check_writable, write_atomically


@click.command("build", cls=Command)
@click.option(
    "--python",
    default=sys.executable,
    metavar="PATH",
    help="Interpreter of an environment that has torch-tpu. Default: this one.",
)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="File to write. Default: torch-tpu-VERSION-torch-MINOR.json in this folder.",
)
@format_option("console", "json")
def command(python: str, output: str | None, fmt: str) -> None:
    """Extract a registry from the dispatcher of an environment with torch-tpu.

    Runs in a child process and needs no TPU. Use the result with --registry PATH.
    """
    out = current_app().out
    if output:
        check_writable(Path(output))
    with tempfile.TemporaryDirectory(prefix="tpu-audit-") as folder:
        raw = Path(folder, "snapshot.json")
        snapshot = build(python, raw)
        data = raw.read_text(encoding="utf-8")
    minor = snapshot.torch.rpartition(".")[0]
    path = Path(output or f"{snapshot.package}-{snapshot.version}-torch-{minor}.json")
    write_atomically(path, data)
    if fmt == "json":
        made = {"package": snapshot.package, "version": snapshot.version, "torch": snapshot.torch}
        ops = len(snapshot.ops)
        out.json({"path": str(path), **made, "digest": snapshot.digest, "ops": ops})
        return
    out.data(f"{path}\n")
    out.note(f"{len(snapshot.ops):,} ops, digest {snapshot.digest}")
    out.hint(f"tpu-audit scan TARGET --registry {path}")
