"""Mutated files through the checker and the repairer: each must give an answer, and a fit one."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import TYPE_CHECKING

from tests.mutants.mutations import MUTATIONS
from tests.mutants.seeds import Seed, case_seeds, rich_seeds
from tpu_audit.check.classify import kind_of_content, kind_of_name
from tpu_audit.check.file_check import check_bytes
from tpu_audit.check.result import FileResult
from tpu_audit.check.selection import all_rules
from tpu_audit.check.source import too_large
from tpu_audit.check.time_limit import FILE_S
from tpu_audit.fix.file_fix import Wish, repair_bytes
from tpu_audit.fix.verify import still_valid
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.files.decoding import decode

if TYPE_CHECKING:
    from collections.abc import Iterable


SLOW_S = 1.5 * FILE_S
"""CPU seconds after which the limit on a file has plainly not held."""
_SMALL = 100_000
"""Larger files are checked but not repaired: that would take minutes and show nothing new."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutant:
    """One mutated file; number and seed make it again."""

    number: int
    name: str
    mutation: str
    data: bytes


@dataclass(slots=True)
class Tally:
    """What came of the mutants."""

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By mutation and outcome: ``findings``, ``nothing found``, or the code of the gap."""
    kinds: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    """What must not be: a sentence with the number of the mutant."""
    slowest_s: float = 0.0


def mutant(number: int, *, seed: int, most: int) -> Mutant:
    """Return the mutant with this number; ``most`` bounds what is added, in bytes."""
    chance = Random(f"{seed}/{number}")  # noqa: S311 - samples
    rich, cases = _seeds()
    # Half of them from the rich files, in turn, so that any stretch of numbers has every kind.
    origin = chance.choice(cases) if number % 2 else rich[number // 2 % len(rich)]
    names = list(MUTATIONS)
    first = chance.choice(names)
    data = MUTATIONS[first](origin.data, chance, most)
    if chance.random() < 0.3:
        data = MUTATIONS[chance.choice(names[:-2])](data, chance, most)
    return Mutant(number=number, name=origin.name, mutation=first, data=data)


@cache
def _seeds() -> tuple[list[Seed], list[Seed]]:
    return rich_seeds(), case_seeds()


def sweep(numbers: Iterable[int], *, seed: int, most: int) -> Tally:
    """Check and repair mutants; faults are collected, not raised."""
    tally = Tally()
    for number in numbers:
        one = mutant(number, seed=seed, most=most)
        before = time.process_time()
        try:
            _judge(one, tally)
        except Exception as error:  # noqa: BLE001 - the fault is what is looked for
            frame = traceback.extract_tb(error.__traceback__)[-1]
            tally.faults.append(f"{_label(one)}: {error!r} at {frame.filename}:{frame.lineno}")
        taken = time.process_time() - before
        tally.slowest_s = max(tally.slowest_s, taken)
        if taken > SLOW_S:
            tally.faults.append(f"{_label(one)}: took {taken:.0f} CPU seconds")
    return tally


def _label(one: Mutant) -> str:
    return f"mutant {one.number} ({one.name}, {one.mutation})"


def _judge(one: Mutant, tally: Tally) -> None:
    result = _result(one)
    tally.kinds[str(result.kind)] += 1
    codes = {gap.code for gap in result.gaps}
    outcome = "findings" if result.items else "nothing found"
    tally.outcomes[one.mutation, min(codes, default=outcome)] += 1
    if "internal" in codes:
        tally.faults += [f"{_label(one)}: {gap.reason}" for gap in result.gaps]
    tally.faults += [f"{_label(one)}: {text}" for text in _misplaced(one, result)]
    if len(one.data) <= _SMALL:
        tally.faults += [f"{_label(one)}: {text}" for text in _bad_repair(one)]


def _result(one: Mutant) -> FileResult:
    kind = kind_of_name(one.name)
    gap = too_large(len(one.data), kind)
    if gap:
        return FileResult(kind=kind, gaps=[gap])
    return check_bytes(one.name, one.data, all_rules())


def _misplaced(one: Mutant, result: FileResult) -> Iterable[str]:
    """Say which findings lie outside the file."""
    if not result.items:
        return
    text = decode(one.data, python=result.kind == "python").text
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for item in result.items:
        for line, column in ((item.line, item.column), (item.end_line, item.end_column)):
            if not 1 <= line <= len(lines) or not 1 <= column <= len(lines[line - 1]) + 1:
                yield f"{item.code} lies outside the file: {line}:{column}"


def _bad_repair(one: Mutant) -> Iterable[str]:
    """Say what is wrong with the repair: a file that does not parse, or one never done."""
    kinds = frozenset({Applicability.SAFE, Applicability.UNSAFE})
    wish = Wish(rules=all_rules(), applicable=kinds)
    done = repair_bytes(one.name, one.data, wish)
    if done.after == one.data:
        return
    kind = kind_of_content(one.name, kind_of_name(one.name), one.data) or ""
    before, after = (decode(d, python=kind == "python").text for d in (done.before, done.after))
    if not still_valid(kind, before, after):
        yield "the repaired file no longer parses"
    if repair_bytes(one.name, done.after, wish).after != done.after:
        yield "a second repair changes more"
