"""Which rules run, and where they do not count."""

from __future__ import annotations

import pytest

from tpu_audit.check import selection
from tpu_audit.check.selection import ignored_in, per_file, selected
from tpu_audit.rules.rule import Docs, Rule, Stability
from tpu_audit.types.errors import UsageError
from tpu_audit.types.report import Severity


def rule(code: str, name: str, stability: Stability = Stability.STABLE) -> Rule:
    """Return a rule that finds nothing."""
    docs = Docs(what="w", why="y", example="e", instead="i")
    return Rule(
        code=code, name=name, severity=Severity.ERROR, docs=docs, words=(), valid=(), invalid=(),
        stability=stability,
    )  # fmt: skip


RULES = (rule("TPA101", "one"), rule("TPA102", "two", Stability.PREVIEW), rule("TPA201", "three"))


@pytest.fixture(autouse=True)
def _few_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "all_rules", lambda: RULES)


@pytest.mark.parametrize(
    ("select", "ignore", "preview", "codes"),
    [
        ((), (), False, ["TPA101", "TPA201"]),
        ((), (), True, ["TPA101", "TPA102", "TPA201"]),
        (("TPA1",), (), False, ["TPA101"]),
        (("TPA1",), (), True, ["TPA101", "TPA102"]),
        (("TPA102",), (), False, ["TPA102"]),
        (("two",), (), False, ["TPA102"]),
        (("tpa2", "one"), (), False, ["TPA101", "TPA201"]),
        ((), ("TPA1",), True, ["TPA201"]),
        (("ALL",), ("one",), False, ["TPA201"]),
    ],
)
def test_selected(
    select: tuple[str, ...], ignore: tuple[str, ...], preview: bool, codes: list[str]
) -> None:
    """Stable rules by default; a preview rule when asked for by name; ignored ones never."""
    assert [one.code for one in selected(select, ignore, preview=preview)] == codes


@pytest.mark.parametrize(
    ("select", "hint"), [("@@", "codes are like"), ("thre", "did you mean 'three'?"), ("", "")]
)
def test_unknown(select: str, hint: str) -> None:
    """A selector that no rule answers to is refused, with a near one."""
    with pytest.raises(UsageError, match="no rule has the code, prefix or name") as caught:
        selected((select,), (), preview=False)
    assert hint in str(caught.value.hint)


def test_per_file() -> None:
    """Patterns match a path or the end of one after a slash."""
    entries = per_file(["tests/*:TPA1,three", "*.ipynb:TPA201", "a.py:one"])

    assert ignored_in("tests/x.py", entries) == {"TPA101", "TPA102", "TPA201"}
    assert ignored_in("pkg/tests/x/y.py", entries) == {"TPA101", "TPA102", "TPA201"}
    assert ignored_in("n/x.ipynb", entries) == {"TPA201"}
    assert ignored_in("pkg/a.py", entries) == {"TPA101"}
    assert ignored_in("pkg/ba.py", entries) == frozenset()


@pytest.mark.parametrize("entry", ["tests", ":TPA1", "x:", "x:TPA999"])
def test_bad_per_file(entry: str) -> None:
    """What is not PATTERN:CODES is refused."""
    with pytest.raises(UsageError):
        per_file([entry])
