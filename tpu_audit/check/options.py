"""Settings of one check."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tpu_audit.types.report import Severity


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckOptions:
    """What to look for, where, and what to leave out."""

    select: tuple[str, ...] = ()
    """Codes, prefixes or names of the rules to run; empty for all stable ones."""
    ignore: tuple[str, ...] = ()
    preview: bool = False
    """Run the rules that are still on trial too."""
    per_file_ignores: tuple[str, ...] = ()
    """``PATTERN:CODE,CODE``."""
    exclude: tuple[str, ...] = ()
    """Glob patterns of files and folders to leave out."""
    respect_gitignore: bool = True
    min_severity: Severity = Severity.INFO
    """Findings below are not reported."""
    diff_base: str | None = None
    """Report only what lies on lines changed since this git revision."""
    cache_dir: Path | None = None
    """Folder to remember results in; None to remember nothing."""
    jobs: int | None = None
    """Processes to use; None for as many as there are cores."""
