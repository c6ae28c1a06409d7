"""``python -m tests.bench``: time and memory of whole commands, on Linux. ``.ci/bench`` runs it."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench import checking, rival, scanning, tracing
from tests.bench.processes import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bench.figure import Section


def main() -> int:
    """Measure everything; 1 when a limit is missed."""
    parser = argparse.ArgumentParser(prog=".ci/bench")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each command")
    parser.add_argument("--torchfix", metavar="PYTHON", help="an interpreter with TorchFix")
    parser.add_argument("--write", action="store_true", help="also write reports/figures.md")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sections = [
            scanning.section(Path(folder), args.runs),
            tracing.section(Path(folder)),
            checking.section(Path(folder), args.runs),
            rival.section(Path(folder), args.torchfix),
        ]
    page = _page(sections, args.runs)
    sys.stdout.write(page)
    if args.write:
        (ROOT / "reports" / "figures.md").write_text(page, encoding="utf-8")
    return int(any(figure.missed for section in sections for figure in section.figures))


def _page(sections: Sequence[Section], runs: int) -> str:
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in scanning.HEAVY)
    head = f"""# Time and memory

Whole processes, from start to exit; {runs} runs of each command after one that does not count,
commands that are compared in turn. Medians, and the least and the most.

Measured on {os.cpu_count()} cores and {gib:.0f} GiB, {platform.system()}, Python
{platform.python_version()}, {versions}, by `.ci/bench`.
"""
    return "\n".join([head, *(section.page() for section in sections)])


if __name__ == "__main__":
    sys.exit(main())
