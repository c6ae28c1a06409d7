"""Scores a check over labelled cases: one small file each, with what should be said of it."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tpu_audit.check.options import CheckOptions
from tpu_audit.check.run import check
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from tpu_audit.types.report import Finding

DATA = Path(__file__).parents[1] / "data"
NO_FLAG = "NO_FLAG"


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelledCase:
    """A file and what a reader who knows TPUs would say of it."""

    id: str
    style: str
    lang: str
    file: str
    code: str
    verdict: str
    """``FLAG error``, ``FLAG warn`` or ``NO_FLAG``."""
    rules: list[str]
    """Codes that would say it; a rule of the same family (first digit) counts too."""
    why: str
    fix: str = ""

    @property
    def families(self) -> set[str]:
        """First digits of the codes."""
        return {code[3] for code in self.rules}


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """How the checker's warnings and errors compare with the labels."""

    found: int
    missed: tuple[str, ...]
    noisy: tuple[str, ...]
    """Cases that should be silent and are not."""

    @property
    def recall(self) -> float:
        """Share of the cases to flag that were flagged."""
        return self.found / max(self.found + len(self.missed), 1)

    @property
    def precision(self) -> float:
        """Share of the flagged cases that should be flagged."""
        return self.found / max(self.found + len(self.noisy), 1)


def read_cases(name: str) -> list[LabelledCase]:
    """Return the cases of a file of tests/data, one JSON object a line."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [LabelledCase(**json.loads(line)) for line in lines]


def loud_findings(cases: list[LabelledCase], root: Path) -> dict[str, list[Finding]]:
    """Write the cases below a folder, check it, return the warnings and errors of each case."""
    for case in cases:
        path = root / case.id / case.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(case.code, encoding="utf-8")
    report = check([str(root)], options=CheckOptions(jobs=1, min_severity=Severity.WARNING))
    found = defaultdict(list)
    for finding in report.findings:
        path = Path(finding.location.path or "")
        found[path.relative_to(root).parts[0]].append(finding)
    return dict(found)


def score(cases: list[LabelledCase], root: Path) -> Score:
    """Check the cases below an empty folder and compare with the labels."""
    loud = loud_findings(cases, root)
    found, missed, noisy = 0, [], []
    for case in cases:
        codes = [finding.code for finding in loud.get(case.id, [])]
        if case.verdict == NO_FLAG:
            noisy += [f"{case.id} {case.style}: {', '.join(codes)}"] if codes else []
        elif case.families & {code[3] for code in codes}:
            found += 1
        else:
            missed.append(f"{case.id} {case.style}: {case.rules}, not {codes}")
    return Score(found=found, missed=tuple(missed), noisy=tuple(noisy))
