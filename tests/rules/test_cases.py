"""Every rule's own cases: what it must find, what it must not, and what its fixes write."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from tests.support.rule_cases import check, repaired
from tpu_audit.rules import catalogue
from tpu_audit.rules.rule import Case, Rule

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

RULES = catalogue.rules()


def _cases(kind: str) -> list[ParameterSet]:
    return [
        pytest.param(rule, case, id=f"{rule.code}-{kind}-{place}")
        for rule in RULES
        for place, case in enumerate(getattr(rule, kind))
    ]


@pytest.mark.parametrize(("rule", "case"), _cases("valid"))
def test_silent_on_valid_cases(rule: Rule, case: Case) -> None:
    """A rule says nothing above info where its pattern is absent or harmless."""
    assert [(found.hit.span, found.severity) for found in check(rule, case)] == []


@pytest.mark.parametrize(("rule", "case"), _cases("invalid"))
def test_finds_invalid_cases(rule: Rule, case: Case) -> None:
    """A rule finds its pattern at the lines, columns and severity that the case states."""
    found = check(rule, case)
    assert [one.hit.span.line for one in found] == list(case.lines)
    if case.columns:
        assert [one.hit.span.column for one in found] == list(case.columns)
    if case.severity is not None:
        assert {one.severity for one in found} == {case.severity}


@pytest.mark.parametrize(
    ("rule", "case"),
    [p for p in _cases("invalid") if p.values[1].fixed is not None],  # type: ignore[union-attr] # a case
)
def test_fixes_as_shown(rule: Rule, case: Case) -> None:
    """A rule's fixes write the text of the case, which parses and is not fixed again."""
    fixed = repaired(rule, case)
    assert fixed == case.fixed
    again = Case(fixed, filename=case.filename)
    if case.filename.endswith(".py"):
        ast.parse(fixed)
    assert repaired(rule, again) == fixed


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_rule_is_complete(rule: Rule) -> None:
    """A rule has a well-formed code and name, cases of both kinds, a page and a check."""
    assert re.fullmatch(r"TPA[1-8]\d\d", rule.code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert rule.valid
    assert rule.invalid
    assert rule.checks
    assert all(case.lines for case in rule.invalid)
    assert not any(case.lines for case in rule.valid)
    docs = rule.docs
    assert all((docs.what, docs.why, docs.example, docs.instead, docs.references))
    assert bool(docs.fix_safety) == rule.fixable
