"""Internal errors: a file that says all, a line that says where it is."""

from __future__ import annotations

import platform
import shlex
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from tpu_audit import __version__
from tpu_audit.types.errors import TpuAuditError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tpu_audit.cli.app import App

FOLDER = "crashes"
"""Folder of crash files in the cache."""


class InternalError(TpuAuditError):
    """Something nobody foresaw; always the tool's fault."""


def report_crash(app: App, error: Exception, args: Sequence[str]) -> None:
    """Write a crash file, name it on stderr, and show the traceback to who asked for it."""
    text = "".join(traceback.format_exception(error))
    if app.debug:
        sys.stderr.write(text)
    written = _write(app.cache_dir, _describe(text, args))
    message = f"internal error: {type(error).__name__}: {error}"
    where = f"details are in {written}" if written else "no crash file could be written"
    app.out.error(InternalError(message, hint=f"{where}; please report it; --debug shows more"))


def _describe(text: str, args: Sequence[str]) -> str:
    return (
        f"tpu-audit {__version__}\n"
        f"python {platform.python_version()} on {platform.platform()}\n"
        f"command: tpu-audit {shlex.join(args)}\n\n{text}"
    )


def _write(cache_dir: Path, text: str) -> Path | None:
    """Write ``text`` to a new file in the cache, else in the temporary folder."""
    name = f"crash-{time.strftime('%Y%m%d-%H%M%S')}-"
    # A crash may come before the cache folder is known.
    homes = [cache_dir / FOLDER] if cache_dir != Path() else []
    for folder in (*homes, Path(tempfile.gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", dir=folder, prefix=name, suffix=".txt", delete=False
            ) as file:
                file.write(text)
        except OSError:
            continue
        return Path(file.name)
    return None
