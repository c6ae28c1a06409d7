"""The report on repairs of whole source trees."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.census.markdown import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.census.fixes import Repaired

_CHECKS = {
    "reads": "every changed file still parses (Python is compiled; JSON, YAML, TOML are read)",
    "compileall": "`python -m compileall` compiles what it compiled before",
    "second run": "a second run changes nothing",
    "line ends": "line ends and the end of the last line are kept",
    "byte order mark": "the byte order mark is kept",
    "comments": "no comment is lost but with the statement that it stands behind",
    "notebook": "a notebook changes in the source of code cells alone",
    "names": "no name is undefined, bound again or imported too late that was not before",
    "unused imports": "no import is unused that was not before",
    "expressions": "an expression that is written again means what it meant",
}


def report(done: Sequence[Repaired]) -> str:
    """Return the page."""
    trees = len({one.name for one in done})
    return f"""# `fix --write` over {trees} source trees

Copies of `TREES/*`, each repaired with `tpu-audit fix --write`, and another copy with
`--unsafe-fixes`; made by `.ci/census fixes TREES`.

{_trees(done)}
## Checks

{_checks(done)}
## Repairs by rule

{_rules(done)}
## Faults

{_faults(done)}"""


def _trees(done: Sequence[Repaired]) -> str:
    rows = [
        (
            *(one.name, "unsafe too" if one.unsafe else "safe", one.files, one.changed),
            *(one.applied.total(), one.refused.total(), len(one.faults)),
        )
        for one in done
    ]
    header = ("tree", "repairs", "files", "changed", "repairs made", "refused", "faults")
    return table(header, rows)


def _checks(done: Sequence[Repaired]) -> str:
    faults = Counter(fault.check for one in done for fault in one.faults)
    return table(
        ("check", "faults"), [(meaning, faults[name]) for name, meaning in _CHECKS.items()]
    )


def _rules(done: Sequence[Repaired]) -> str:
    counts = [
        sum((one.applied for one in done if one.unsafe is unsafe), Counter[str]())
        for unsafe in (False, True)
    ]
    refused = sum((one.refused for one in done if one.unsafe), Counter[str]())
    codes = sorted(counts[0] | counts[1] | refused)
    rows = [(code, counts[0][code], counts[1][code], refused[code]) for code in codes]
    return table(("rule", "safe", "with unsafe ones", "refused"), rows)


def _faults(done: Sequence[Repaired]) -> str:
    rows = [
        (f"{one.name}: {fault.path}", fault.check, fault.text)
        for one in done
        for fault in one.faults
    ]
    return table(("file", "check", "what"), rows) if rows else "None.\n"
