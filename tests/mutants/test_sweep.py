"""Mutated files, a sample: findings or a gap, never an error; repairs that are fit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.mutants.mutations import MUTATIONS
from tests.mutants.seeds import rich_seeds
from tests.mutants.sweep import mutant, sweep
from tests.support.trees import HIT, tree
from tpu_audit.check.classify import kind_of_name
from tpu_audit.check.run import check
from tpu_audit.rules.files.reading import READERS

if TYPE_CHECKING:
    from pathlib import Path

SEED = 20_261_130


@pytest.mark.parametrize("start", range(0, 240, 60))
def test_sample(start: int) -> None:
    """No mutant ends in an internal error, lies outside its file or is repaired into ruin."""
    tally = sweep(range(start, start + 60), seed=SEED, most=20_000)

    assert tally.faults == []
    assert tally.outcomes.total() == 60


def test_sample_is_varied() -> None:
    """The sample holds every mutation and many kinds, and both outcomes."""
    tally = sweep(range(0, 240, 3), seed=SEED, most=5_000)
    outcomes = {outcome for _, outcome in tally.outcomes}

    assert {name for name, _ in tally.outcomes} == set(MUTATIONS)
    assert {"findings", "unreadable"} <= outcomes
    assert len(tally.kinds) > 8


def test_same_again() -> None:
    """A number and a seed give the same mutant; another seed another."""
    first, again, other = (mutant(5, seed=seed, most=100) for seed in (1, 1, 2))

    assert first == again
    assert first != other


def test_seeds_cover_all_kinds() -> None:
    """Every kind of file that is read is mutated."""
    kinds = {kind_of_name(seed.name) for seed in rich_seeds()}

    assert kinds == {*READERS, "python", "notebook"}


def test_odd_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops of links, dead links, pipes and folders called like files are passed over."""
    monkeypatch.chdir(tmp_path)
    tree(tmp_path, {"a.py": HIT, "dir.py/b.py": HIT})
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "self.py").symlink_to("self.py")
    (tmp_path / "dead.yaml").symlink_to("nothing")
    os.mkfifo(tmp_path / "pipe.py")
    report = check(["."])

    assert [found.location.path for found in report.findings] == ["a.py", "dir.py/b.py"]


@pytest.mark.parametrize("name", ["self.py", "pipe.py"])
def test_odd_places_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Named themselves, such places are reported as not read, and nothing waits for a pipe."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "self.py").symlink_to("self.py")
    os.mkfifo(tmp_path / "pipe.py")
    (unread,) = check([name]).unread

    assert unread.path == name
