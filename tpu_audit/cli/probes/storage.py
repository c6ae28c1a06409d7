"""The cache folder: where, how large, writable."""

from __future__ import annotations

import os
from pathlib import Path

from tpu_audit.cli.cache_store import usage
from tpu_audit.cli.probes.check import Check, Health
from tpu_audit.render.text import plural
from tpu_audit.render.units import size


def check_cache(folder: Path) -> Check:
    """Measure the cache; say when nothing can be written to it."""
    folder = Path.cwd() / folder
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        detail = f"{folder} cannot be written: {existing} is read-only or no folder"
        hint = "choose another with --cache-dir, or scan with --no-cache"
        return Check(name="cache", health=Health.WARNING, detail=detail, hint=hint)
    found = usage(folder)
    files, amount = sum(item.files for item in found), sum(item.bytes for item in found)
    detail = f"{folder}: {plural(files, 'file')}, {size(amount)}"
    return Check(name="cache", health=Health.OK, detail=detail)
