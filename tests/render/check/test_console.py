"""The first screen of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.checks import cause, finding, report
from tpu_audit.render.check.console import ConsoleRenderer
from tpu_audit.render.check.view import CheckView
from tpu_audit.types.report import Location, Severity

if TYPE_CHECKING:
    from tpu_audit.types.check import CheckReport

GOLDEN = """\
Checked: 4 files (3 python, 1 yaml)
Findings: 1 error, 1 info

Do first
  TPA103     error: `.cuda()` raises on a TPU: PyTorch is built without CUDA there (4 places in 2
             files)
    where    a.py:2:19 (2 there); b.py:1:1 (2 there)
    fix      write `.to(device)`
  and 1 more cause (1 info): -v shows it

  ignored    1 by comment (--show-suppressed lists them)
  not read   1 file, wholly or in part
             c.py:3: not valid Python 3: x
Next: tpu-audit fix src   (shows 1 safe repair; --write makes them)
"""


def render(value: CheckReport, **view: Any) -> str:
    """Return the report as a terminal shows it."""
    return ConsoleRenderer().render(value, CheckView(**view))


def test_first_screen() -> None:
    """What to do first, what was left out and why, the next command."""
    assert render(report()) == GOLDEN


def test_many_causes() -> None:
    """Five causes are shown and the others counted; -v shows all with all their places."""
    many = report(causes=tuple(cause(number) for number in range(9)))

    assert render(many).count("where") == 5
    assert "and 4 more causes (4 errors): -v shows them all" in render(many)
    assert render(many, verbosity=1).count("a.py:2:19, 3:1; b.py:1:1, 9:1") == 9


def test_notes_are_folded() -> None:
    """What needs no change on a TPU is counted, and shown by -v alone."""
    notes = report(causes=(cause(severity=Severity.INFO),))

    assert "  1 cause (1 info): -v shows it\n" in render(notes)
    assert "Do first" not in render(notes)
    assert "info: `.cuda()` raises" in render(notes, verbosity=1)


def test_one_place() -> None:
    """A cause with one place has no counts."""
    single = report(causes=(cause(count=1, files=1, places=("a.py:2:19",)),))

    assert "CUDA there\n    where    a.py:2:19\n" in render(single)


def test_quiet() -> None:
    """--quiet leaves a line an error, and nothing when there is none."""
    assert render(report(), verbosity=-1).startswith("a, b.py:2:19: TPA103")
    assert len(render(report(), verbosity=-1, width=40).splitlines()) == 1
    assert render(report(findings=(), causes=()), verbosity=-1) == ""


def test_suppressed_are_listed() -> None:
    """--show-suppressed lists what was left out, with the reason given."""
    text = " ".join(render(report(), show_suppressed=True).split())

    assert "[comment: old cluster]" in text


def test_next_command() -> None:
    """Without safe repairs the worst cause is explained; without findings, the model is audited."""
    manual = report(findings=(finding(fixable=None),))
    clean = report(findings=(), causes=(), suppressed=(), unread=())
    notes = report(findings=(), causes=(cause(severity=Severity.INFO),))

    assert render(manual).endswith("Next: tpu-audit explain TPA103\n")
    assert "Next: tpu-audit fix PATH...   (" in render(report(paths=("a", "b", "c", "d")))
    assert "Next: tpu-audit scan MODEL" in render(clean)
    assert "Findings: none" in render(clean)
    assert "Next: tpu-audit scan MODEL" in render(notes)


def test_statistics() -> None:
    """--statistics counts by rule and severity, in place of the causes."""
    text = render(report(causes=(cause(), cause(122, name="pin-memory"))), statistics=True)

    assert "Do first" not in text
    rows = [line.split() for line in text.splitlines() if line.startswith("  TPA")]
    assert rows == [
        ["TPA103", "cuda-method", "error", "1", "1", "1"],
        ["TPA225", "pin-memory", "info", "1", "1", "0"],
    ]


def test_files_elsewhere() -> None:
    """Files outside the current folder are named below the folder that holds them all."""
    far = finding(location=Location(path="/srv/code/a/x.py", line=2, column=19))
    near = finding(location=Location(path="/srv/code/b.py", line=1, column=1))
    group = cause(count=2, places=("/srv/code/a/x.py:2:19", "/srv/code/b.py:1:1"))
    text = render(report(findings=(far, near), causes=(group,)))

    assert text.startswith("Checked: 4 files (3 python, 1 yaml) below /srv/code\n")
    assert "where    a/x.py:2:19; b.py:1:1\n" in text


@pytest.mark.parametrize("width", [80, 120])
def test_width(width: int) -> None:
    """No line is wider than the terminal, and labels keep their column."""
    group = cause(message="word " * 60, fix="other " * 60, places=("a/b/c.py:1:1",) * 4)
    lines = render(report(causes=(group,) * 3), width=width).splitlines()

    assert max(map(len, lines)) <= width
    assert {line[:13].strip() for line in lines if "word" in line} == {"TPA103", ""}


def test_hostile_names() -> None:
    """A file's name cannot speak to the terminal."""
    bad = cause(places=("\x1b[31m.py:1:1",))

    assert "\x1b" not in render(report(causes=(bad,)))
