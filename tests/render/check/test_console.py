"""The first screen of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.checks import cause, finding, report
from tpu_audit.render.check.console import ConsoleRenderer
from tpu_audit.render.check.view import CheckView
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from tpu_audit.types.check import CheckReport

GOLDEN = """\
Checked: 4 files (3 python, 1 yaml)
Findings: 1 error, 1 info

Do first
  TPA103     error: `.cuda()` raises on a TPU: PyTorch is built without CUDA there (4 places in 2
             files)
    where    a.py:2:19, a.py:3:1, b.py:1:1 and 1 more
    fix      write `.to(device)`
  and 1 more cause: -v shows them all

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
    assert "and 4 more causes: -v shows them all" in render(many)
    assert render(many, verbosity=1).count("b.py:9:1") == 9


def test_quiet() -> None:
    """--quiet leaves a line an error, and nothing when there is none."""
    assert render(report(), verbosity=-1).startswith("a, b.py:2:19: TPA103")
    assert len(render(report(), verbosity=-1).splitlines()) == 1
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


def test_hostile_names() -> None:
    """A file's name cannot speak to the terminal."""
    bad = cause(places=("\x1b[31m.py:1:1",))

    assert "\x1b" not in render(report(causes=(bad,)))
