"""``tpu-audit cache``: locate, measure and clean the cache."""

from __future__ import annotations

from pathlib import Path

import click

from tpu_audit.cli import cache_store
from tpu_audit.cli.app import current_app
from tpu_audit.cli.lazy import LazyGroup
from tpu_audit.cli.options import format_option
from tpu_audit.render.text import plural
from tpu_audit.render.units import size
from tpu_audit.types.errors import UsageError


@click.group(cls=LazyGroup)
def command() -> None:
    """Locate, measure and clean the cache of traces, resolutions and checks.

    Files of the hub are in huggingface_hub's own cache: see `hf cache ls`.
    """


@command.command("dir")
@format_option("console", "json")
def directory(fmt: str) -> None:
    """Print the cache folder."""
    app = current_app()
    path = str(_absolute(app.cache_dir))
    if fmt == "json":
        app.out.json({"path": path})
    else:
        app.out.data(path + "\n")


@command.command()
@format_option("console", "json")
def info(fmt: str) -> None:
    """Show what the cache holds."""
    app = current_app()
    folder = _absolute(app.cache_dir)
    found = cache_store.usage(folder)
    if fmt == "json":
        app.out.json({"path": str(folder), "exists": folder.is_dir(), "folders": found})
        return
    app.out.data(f"{folder}\n" if folder.is_dir() else f"{folder} (does not exist yet)\n")
    _table(found)


@command.command()
@click.option("--dry-run", is_flag=True, help="Only say what would be deleted.")
@format_option("console", "json")
def clean(fmt: str, *, dry_run: bool) -> None:
    """Delete cached traces, resolutions, checks and crash files; nothing else."""
    app = current_app()
    folder = _absolute(app.cache_dir)
    try:
        deleted = cache_store.clean(folder, dry_run=dry_run)
    except OSError as error:
        message = f"cannot delete {str(error.filename)!r}: {error.strerror}"
        raise UsageError(message, hint="check the permissions of the cache folder") from error
    if fmt == "json":
        app.out.json({"path": str(folder), "dry_run": dry_run, "deleted": deleted})
        return
    files, amount = sum(item.files for item in deleted), sum(item.bytes for item in deleted)
    verb = "would delete" if dry_run else "deleted"
    app.out.data(f"{verb} {plural(files, 'file')}, {size(amount)}, in {folder}\n")


def _absolute(folder: Path) -> Path:
    return Path.cwd() / folder


def _table(found: list[cache_store.Usage]) -> None:
    rows = [(item.name, f"{item.files:,}", size(item.bytes)) for item in found]
    current_app().out.table(("folder", "files", "size"), rows)
