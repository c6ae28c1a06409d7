"""The checker's own rules find their cases, and repair them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tpu_audit.check.file_check import check_bytes
from tpu_audit.check.own_rules import OWN_RULES
from tpu_audit.check.selection import all_rules
from tpu_audit.check.silence import judge
from tpu_audit.fix.file_fix import Wish, repair_bytes
from tpu_audit.rules.edits import Applicability

if TYPE_CHECKING:
    from tpu_audit.rules.rule import Case, Rule

CASES = [(rule, case) for rule in OWN_RULES for case in (*rule.valid, *rule.invalid)]


@pytest.mark.parametrize(("rule", "case"), CASES, ids=lambda value: getattr(value, "code", None))
def test_cases(rule: Rule, case: Case) -> None:
    """A valid case has no finding of the rule, an invalid one has them at its lines."""
    working = [one for one in all_rules() if one.checks]
    result = check_bytes(case.filename, case.source.encode(), working)
    kept = judge(result, frozenset(one.code for one in all_rules())).kept

    assert tuple(item.line for item in kept if item.code == rule.code) == case.lines


@pytest.mark.parametrize(
    ("rule", "case"),
    [pair for pair in CASES if pair[1].fixed],
    ids=lambda v: getattr(v, "code", None),
)
def test_repairs(rule: Rule, case: Case) -> None:
    """A case with a repaired text becomes that text."""
    wish = Wish(rules=all_rules(), applicable=frozenset({Applicability.SAFE}))
    done = repair_bytes(case.filename, case.source.encode(), wish)

    assert done.after.decode() == case.fixed
    assert done.applied[rule.code] == 1
