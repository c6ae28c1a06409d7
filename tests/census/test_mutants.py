"""A fast share of `.ci/census mutate`, over the configs of this repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.census.mutants import write_mutants
from tests.census.mutate import command_line_fault, judge_mutants
from tests.support.configs import CONFIGS
from tpu_audit.types.report import Status

if TYPE_CHECKING:
    from pathlib import Path

SEED = 0
NUMBERS = range(60)


def test_same_seed_makes_the_same_mutants(tmp_path: Path) -> None:
    """A number in the report is enough to make its mutant again, without the others."""
    many = write_mutants(CONFIGS, tmp_path / "many", seed=SEED, numbers=NUMBERS)
    (one,) = write_mutants(CONFIGS, tmp_path / "one", seed=SEED, numbers=[41])
    assert one.path.read_bytes() == many[41].path.read_bytes()
    assert len({mutant.path.read_bytes() for mutant in many}) > len(many) * 0.9


@pytest.mark.timeout(240)
def test_every_mutant_is_judged(tmp_path: Path) -> None:
    """Each broken config gives a verdict or a typed failure; the command line agrees on a few."""
    judged = list(judge_mutants(CONFIGS, tmp_path, seed=SEED, numbers=NUMBERS))
    untyped = [(one.label, one.outcome.reason) for one in judged if not one.outcome.typed]
    assert untyped == []
    statuses = [one.outcome.status for one in judged]
    assert min(statuses.count(Status.TRACED), statuses.count(Status.FAILED)) > 5
    for one in judged[:: len(judged) // 3]:
        assert command_line_fault(one) is None
