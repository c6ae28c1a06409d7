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

_REPORT = ROOT / "reports" / "figures.md"
_PARTS = ("scan", "trace", "check", "torchfix")


def main() -> int:
    """Measure everything; 1 when a limit is missed."""
    parser = argparse.ArgumentParser(prog=".ci/bench")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each command")
    parser.add_argument("--torchfix", metavar="PYTHON", help="an interpreter with TorchFix")
    parser.add_argument("--only", choices=_PARTS, help="measure one part, leave the others be")
    parser.add_argument("--write", action="store_true", help="also write reports/figures.md")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        parts = [args.only] if args.only else _PARTS
        sections = [_section(part, Path(folder), args) for part in parts]
    sys.stdout.write(_page([section.page() for section in sections], args.runs))
    if args.write:
        _REPORT.write_text(_page(_merged(sections), args.runs), encoding="utf-8")
    return int(any(figure.missed for section in sections for figure in section.figures))


def _section(part: str, folder: Path, args: argparse.Namespace) -> Section:
    """Measure one part; ``folder`` is for caches and models."""
    if part == "scan":
        return scanning.section(folder, args.runs)
    if part == "trace":
        return tracing.section(folder)
    if part == "check":
        return checking.section(folder, args.runs)
    return rival.section(folder, args.torchfix)


def _merged(sections: Sequence[Section]) -> list[str]:
    """Return the sections of the report, those that were measured in place of the old ones."""
    old = _REPORT.read_text(encoding="utf-8").split("\n## ")[1:]
    pages = {text.partition("\n")[0]: f"## {text.rstrip()}\n" for text in old}
    pages |= {section.title: section.page() for section in sections}
    return list(pages.values())


def _page(sections: Sequence[str], runs: int) -> str:
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in scanning.HEAVY)
    head = f"""# Time and memory

Whole processes, from start to exit; {runs} runs of each command after one that does not count,
commands that are compared in turn. Medians, and the least and the most.

Measured on {os.cpu_count()} cores and {gib:.0f} GiB, {platform.system()}, Python
{platform.python_version()}, {versions}, by `.ci/bench`.
"""
    return "\n".join([head, *sections])


if __name__ == "__main__":
    sys.exit(main())
