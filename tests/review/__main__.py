"""``python -m tests.review``: draw findings over a folder of packages for a reader to judge."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.review import table
from tests.review.sample import draw, found_in


def main() -> int:
    """Print the drawn findings as JSON lines, verdicts empty."""
    asked = _parser().parse_args()
    folder = asked.folder.resolve()
    findings = found_in(_report(folder, asked.report), asked.severity)
    rows = draw(findings, folder, count=asked.count, seed=asked.seed)
    sys.stderr.write(f"{len(rows)} of {len(findings)} findings of severity {asked.severity}\n")
    sys.stdout.write(table.text(rows))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=".ci/review", description=__doc__)
    parser.add_argument("folder", type=Path, help="holds one unpacked package a folder")
    parser.add_argument("--severity", choices=("error", "warning", "info"), default="error")
    parser.add_argument("--count", type=int, default=170, help="how many to draw")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other findings")
    parser.add_argument("--report", type=Path, help="JSON report of FOLDER, to check it only once")
    return parser


def _report(folder: Path, made: Path | None) -> Any:
    if made:
        return json.loads(made.read_text(encoding="utf-8"))
    command = (sys.executable, "-m", "tpu_audit", "check", "--format", "json", str(folder))
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE)
    if done.returncode not in (0, 1):
        sys.exit(done.returncode)
    return json.loads(done.stdout)


if __name__ == "__main__":
    sys.exit(main())
