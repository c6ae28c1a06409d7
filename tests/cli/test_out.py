"""The sink: what goes where, in which colour, how loud."""

from __future__ import annotations

import io
import sys

import pytest

from tpu_audit.cli.out import Out, wants_color
from tpu_audit.types.errors import UsageError


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.mark.parametrize(
    ("choice", "env", "terminal", "expected"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colour(
    monkeypatch: pytest.MonkeyPatch,
    choice: str,
    env: dict[str, str],
    terminal: bool,
    expected: bool,
) -> None:
    """The option decides, then NO_COLOR, then FORCE_COLOR, then the terminal."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in env.items():
        monkeypatch.setenv(name, value)

    assert wants_color(choice, Terminal() if terminal else io.StringIO()) is expected


def test_streams(capsys: pytest.CaptureFixture[str]) -> None:
    """Data goes to stdout, everything for people to stderr, safe to print."""
    out = Out()
    out.data("data\n")
    out.warning("careful\x1b[2J")
    out.hint("do\nthis")

    caught = capsys.readouterr()
    assert caught.out == "data\n"
    assert caught.err == "warning: careful\\x1b[2J\nhint: do\n  this\n"


def test_quiet_keeps_errors(capsys: pytest.CaptureFixture[str]) -> None:
    """Quiet silences everything on stderr but errors; details want verbose."""
    out = Out(verbosity=-1)
    out.warning("w")
    out.note("n")
    out.hint("h")
    out.error(UsageError("wrong", hint="right"))
    Out().detail("d")
    Out(verbosity=1).detail("shown")

    assert capsys.readouterr().err == "error: wrong\nhint: right\nnote: shown\n"


@pytest.mark.parametrize(
    ("terminal", "option", "verbosity", "expected"),
    [
        (True, None, 0, True),
        (True, False, 0, False),
        (True, None, -1, False),
        (False, None, 0, False),
        (False, True, 0, False),
    ],
)
def test_progress(
    monkeypatch: pytest.MonkeyPatch,
    terminal: bool,
    option: bool | None,
    verbosity: int,
    expected: bool,
) -> None:
    """Progress needs a terminal on stderr; --no-progress and --quiet turn it off there."""
    monkeypatch.setattr(sys, "stderr", Terminal() if terminal else io.StringIO())

    assert Out(progress=option, verbosity=verbosity).shows_progress() is expected


def test_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe is 100 columns wide unless COLUMNS says otherwise."""
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.delenv("COLUMNS", raising=False)
    assert Out().view().width == 100

    monkeypatch.setenv("COLUMNS", "60")
    assert Out().view().width == 60
