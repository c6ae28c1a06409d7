"""A whole check: report, settings, causes, order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.trees import CLEAN, HIT, tree
from tpu_audit.check.options import CheckOptions
from tpu_audit.check.run import check
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from pathlib import Path

    from tpu_audit.types.check import CheckReport


@pytest.fixture(name="project")
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a small project the working folder."""
    monkeypatch.chdir(tmp_path)
    return tree(
        tmp_path,
        {
            "b.py": HIT,
            "a.py": HIT + "y = x.cuda()\n",
            "clean.py": CLEAN,
            "tests/test_x.py": HIT,
            "broken.py": "cuda(\n",
            "quiet.py": HIT.replace("()\n", "()  # tpu-audit: ignore[TPA103] the old cluster\n", 2),
        },
    )


def codes(report: CheckReport) -> list[str]:
    """Return ``path:line CODE severity`` of each finding."""
    return [f"{f.location.path}:{f.location.line} {f.code} {f.severity}" for f in report.findings]


def test_report(project: Path) -> None:
    """Findings in the order of files and places; tests count for less; gaps are named."""
    del project
    report = check(["."])

    assert codes(report) == [
        "a.py:2 TPA103 error",
        "a.py:3 TPA103 error",
        "b.py:2 TPA103 error",
        "tests/test_x.py:2 TPA103 info",
    ]
    assert report.files == {"python": 6}
    assert [(unread.path, unread.line) for unread in report.unread] == [("broken.py", 1)]
    (left,) = report.suppressed
    assert (left.finding.location.path, left.by, left.reason) == (
        "quiet.py",
        "comment",
        "the old cluster",
    )


def test_causes(project: Path) -> None:
    """One cause holds all its places; the worst cause is first."""
    del project
    first, second = check(["."]).causes

    assert (first.code, first.name, first.count, first.files) == ("TPA103", "cuda-method", 3, 2)
    assert first.places == ("a.py:2:19", "a.py:3:7", "b.py:2:19")
    assert second.severity is Severity.INFO


def test_per_file_ignores(project: Path) -> None:
    """What settings leave out is counted as suppressed."""
    del project
    report = check(["."], options=CheckOptions(per_file_ignores=("a.py:TPA1",)))

    assert not any(code.startswith("a.py") for code in codes(report))
    assert [left.by for left in report.suppressed] == ["settings", "settings", "comment"]


def test_min_severity(project: Path) -> None:
    """Findings below are not reported."""
    del project
    report = check(["."], options=CheckOptions(min_severity=Severity.WARNING))

    assert len(report.findings) == 3


def test_ignored_rules(project: Path) -> None:
    """A rule that does not run finds nothing, and its comments are not called unused."""
    del project
    report = check(["."], options=CheckOptions(ignore=("TPA103",)))

    assert (report.findings, report.suppressed) == ((), ())
