"""Findings over public packages, each read in its source: how many of them are right.

`tests/data/review` holds one table a severity; `.ci/review` draws others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.review.table import TABLES, Row, read
from tpu_audit.rules import catalogue
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from tpu_audit.rules.rule import Rule

PRECISION = {Severity.ERROR: 0.95, Severity.WARNING: 0.9}
"""The least share of right findings that a severity must have."""
ROWS = 150
"""The least number of reviewed findings a severity."""

severities = pytest.mark.parametrize(
    "severity", [s for s in Severity if (TABLES / f"{s}s.jsonl").exists()]
)


def _rows(severity: Severity) -> list[Row]:
    return read(TABLES / f"{severity}s.jsonl")


@severities
def test_table_is_complete(severity: Severity) -> None:
    """A table has enough rows, each place and rule once, each judged with a reason."""
    rows = _rows(severity)
    assert len(rows) >= ROWS
    assert len({(row.package, row.path, row.line, row.code) for row in rows}) == len(rows)
    for row in rows:
        assert row.severity == severity
        assert row.verdict in {"right", "wrong"}
        assert all((row.package, row.version, row.path, row.line, row.source, row.reason)), row


@severities
def test_precision(severity: Severity) -> None:
    """Of the findings of a severity as many are right as it asks."""
    verdicts = [row.verdict for row in _rows(severity)]
    assert verdicts.count("right") >= PRECISION.get(severity, 0.0) * len(verdicts)


@severities
def test_codes_can_have_the_severity(severity: Severity) -> None:
    """Every code is a rule's, which states the severity or shows it in a case."""
    possible = {rule.code: _severities(rule) for rule in catalogue.rules()}
    wrong = {row.code for row in _rows(severity) if severity not in possible.get(row.code, ())}
    assert not wrong


def _severities(rule: Rule) -> set[Severity | None]:
    cases = {case.severity for case in rule.invalid}
    return {rule.severity, rule.in_tests, rule.where_dead, *cases}


@pytest.mark.parametrize("severity", [Severity.ERROR, Severity.WARNING])
def test_blind_samples_are_kept_whole(severity: Severity) -> None:
    """Samples of packages that no rule was tried on keep each row with its first verdict."""
    rows = read(TABLES / f"blind_{severity}s.jsonl")
    assert len(rows) >= ROWS
    assert len({(row.package, row.path, row.line, row.code) for row in rows}) == len(rows)
    for row in rows:
        assert row.severity == severity
        assert row.verdict in {"right", "wrong"}
        assert all((row.package, row.version, row.path, row.line, row.source, row.reason)), row
    verdicts = [row.verdict for row in rows]
    stated = f"{verdicts.count('right')} of {len(rows)}"
    assert stated in (TABLES / "README.md").read_text(encoding="utf-8")
