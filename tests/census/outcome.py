"""What came of one scan, short enough for a table of thousands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.census.evidence import Pair, registered
from tpu_audit.render.summary import random_calls
from tpu_audit.types.errors import ExitCode, Stage
from tpu_audit.types.report import Severity, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tpu_audit.types.report import OpRow, PhaseReport, Report

ACCIDENTS = frozenset({"internal", "crash", "hung"})
"""Reason codes that no input may earn: the tool, or the harness's patience, gave out."""
_SLUG = re.compile(r"[a-z][a-z0-9_]*")
_SITE_PACKAGES = re.compile(r"/\S*?/site-packages/")


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """One model, one phase, one dtype."""

    name: str
    """Of the config, relative to the folder that was swept."""
    architecture: str | None
    """The class that was traced; the one that the config names where none was."""
    status: Status
    stage: str | None = None
    code: str | None = None
    reason: str | None = None
    verdict: Verdict = Verdict.UNKNOWN
    met: Mapping[str, int] = field(default_factory=dict)
    """Op overload -> calls on the TPU."""
    random: int = 0
    """Calls that draw random numbers."""
    registered: Mapping[Pair, int] = field(default_factory=dict)
    """Op and dtype -> calls that rest on registration alone, those that are random apart."""
    parameters: int | None = None
    errors: int = 0
    """Findings of severity error."""
    seconds: float
    child_mib: int = 0
    """Peak resident memory of any tracing child of the worker up to here, MiB."""
    worker_mib: int = 0
    """Peak resident memory of the worker, that is the scan's parent process, MiB."""

    @property
    def calls(self) -> int:
        """Calls on the TPU."""
        return sum(self.met.values())

    @property
    def ops(self) -> int:
        """Distinct op overloads among them."""
        return len(self.met)

    @property
    def typed(self) -> bool:
        """Whether this is a verdict, or a failure with a stage and a code that name its cause."""
        if self.status is Status.TRACED:
            return self.calls > 0 or self.verdict is Verdict.UNKNOWN
        known = self.stage in set(Stage) and _SLUG.fullmatch(self.code or "")
        return bool(known and self.reason and self.code not in ACCIDENTS)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code that ``tpu-audit scan`` owes for this outcome."""
        if self.status is not Status.TRACED:
            return ExitCode.INCOMPLETE
        return ExitCode.FINDINGS if self.errors else ExitCode.CLEAN


def outcome_of(report: Report, name: str, folder: Path, *, seconds: float) -> Outcome:
    """Shorten the report of a single model; its texts lose the paths of this machine."""
    (model,) = report.models
    phase = min(model.phases, key=_worst_first)
    rows = [row for one in model.phases for row in one.ops]
    return Outcome(
        name=name,
        architecture=model.architecture,
        status=phase.status,
        stage=phase.stage,
        code=phase.reason_code,
        reason=without_paths(phase.reason, folder),
        verdict=phase.verdict,
        met=_met(rows),
        random=sum(map(random_calls, model.phases)),
        registered=registered(rows, report.versions.registry.backend),
        parameters=model.parameters,
        errors=sum(finding.severity is Severity.ERROR for finding in report.findings),
        seconds=seconds,
    )


def _worst_first(phase: PhaseReport) -> int:
    """Rank a component of a pipeline: one that was not audited speaks for all."""
    return (Status.FAILED, Status.SKIPPED, Status.TRACED).index(phase.status)


def _met(rows: Iterable[OpRow]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row.op] += row.count
    return dict(counts)


def without_paths(text: str | None, folder: Path) -> str | None:
    """Return ``text`` with paths relative to ``folder`` and to the installed packages."""
    if text is None:
        return None
    return _SITE_PACKAGES.sub("", text.replace(f"{folder}/", "").replace(str(folder), "."))
