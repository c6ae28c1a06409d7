"""Places of findings, short enough for a line: by file, below one folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tpu_audit.types.check import CheckReport

FEW = 3
"""Places, or files, that a line has room for."""


def common_folder(report: CheckReport) -> str:
    """Return the folder that holds all findings, or "" where one is below the current folder.

    Names of files below the current folder are relative already.
    """
    paths = {finding.location.path or "" for finding in report.findings}
    if not paths or not all(map(os.path.isabs, paths)):
        return ""
    try:
        return os.path.commonpath([Path(path).parent for path in paths])
    except ValueError:  # on several drives
        return ""


def where(places: Sequence[str], base: str, *, everything: bool) -> str:
    """Return ``a.py:2:19, 3:1; b.py:1:1``: all places, or where to start.

    Many places are shown by the files that hold most of them, each with its first place and the
    number there.
    """
    files = _by_file(places, base)
    if everything or len(places) <= FEW:
        return "; ".join(f"{path}:{', '.join(spots)}" for path, spots in files.items())
    most = sorted(files.items(), key=lambda item: -len(item[1]))
    named = [f"{path}:{spots[0]}{_further(len(spots))}" for path, spots in most[:FEW]]
    more = len(most) - FEW
    rest = f" and {more:,} more {'file' if more == 1 else 'files'}" if more > 0 else ""
    return "; ".join(named) + rest


def _further(count: int) -> str:
    return f" ({count:,} there)" if count > 1 else ""


def _by_file(places: Sequence[str], base: str) -> dict[str, list[str]]:
    """Return ``line:column`` of places given as ``path:line:column``, by path, in their order."""
    files: dict[str, list[str]] = {}
    for place in places:
        path, line, column = place.rsplit(":", 2)
        shown = os.path.relpath(path, base) if base else path
        files.setdefault(shown, []).append(f"{line}:{column}")
    return files
