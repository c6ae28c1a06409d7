"""Exceptions become messages and exit codes in one place."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import click
import pytest

from op_registry.errors import RegistryError
from tests.support.command_line import ROOT, CommandLine, fresh
from tpu_audit.cli.commands import explain
from tpu_audit.types.errors import MissingExtraError, NotAuditedError, Stage, UsageError

if TYPE_CHECKING:
    from pathlib import Path

NOT_AUDITED = NotAuditedError("too slow", stage=Stage.TRACE, code="timeout", hint="--timeout")


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (UsageError("wrong", hint="do right"), 2, "error: wrong\nhint: do right\n"),
        (MissingExtraError("no torch"), 2, "error: no torch\n"),
        (NOT_AUDITED, 3, "error: too slow\nhint: --timeout\n"),
        (RegistryError("broken", hint="rebuild"), 2, "error: broken\nhint: rebuild\n"),
        (click.ClickException("odd"), 2, "error: odd\n"),
        (KeyboardInterrupt(), 130, "note: interrupted\n"),
        (click.Abort(), 130, "note: interrupted\n"),
    ],
)
def test_foreseen_errors(
    tpu_audit: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    says: str,
) -> None:
    """Each foreseen error has its exit code, its message and its hint, and no traceback."""

    def fail(_: object) -> None:
        raise error

    monkeypatch.setattr(explain, "load", fail)
    ran = tpu_audit("explain", "aten.add")

    assert (ran.code, ran.out, ran.err) == (code, "", says)


@pytest.mark.parametrize("args", [["explain", "add"], ["--debug", "explain", "add"]])
def test_internal_error(
    tpu_audit: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, args: list[str]
) -> None:
    """Anything else is 4: details go to a file that is named; a traceback only with --debug."""
    surprise: dict[str, str] = {}
    monkeypatch.setattr(explain, "load", lambda _: surprise["surprise"])
    ran = tpu_audit(*args)

    (crash,) = (tmp_path / "cache" / "crashes").iterdir()
    text = crash.read_text(encoding="utf-8")
    assert ran.code == 4
    assert "error: internal error: KeyError: 'surprise'" in ran.err
    assert str(crash) in ran.err
    assert ("Traceback" in ran.err) == ("--debug" in args)
    assert "Traceback" in text
    assert "tpu-audit 0.1.0" in text
    assert "explain add" in text


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["scn"], "no such command 'scn' in `tpu-audit`\nhint: did you mean 'scan'?"),
        (["xyzzy"], "hint: commands: scan, check, fix, explain, registry"),
        (["registry", "lst"], "no such command 'lst' in `tpu-audit registry`\nhint: did you mean"),
        (["scan"], "missing argument 'TARGET...'"),
        (["scan", "x", "--seqlen", "4"], "'--seqlen'. Did you mean '--seq-len'?"),
        (["scan", "x", "--isolated"], "global options go before the command"),
        (["scan", "x", "--seq-len", "0"], "0 is not in the range"),
        (["scan", "x", "--batch", "-1"], "-1 is not in the range"),
        (["scan", "x", "--timeout", "0"], "0.0 is not in the range"),
        (["scan", "x", "--max-memory", "1"], "1 is not in the range"),
        (
            ["scan", "x", "--dtype", "bf61"],
            "'bf61' is not a dtype to trace in: did you mean 'bf16'",
        ),
        (["scan", "x", "--dtype", "bf16,"], "'' is not a dtype to trace in: one of bfloat16"),
        (["scan", "x", "--fail-on", "fatal"], "'fatal' is not one of"),
        (["scan", "x", "-f", "yaml"], "'yaml' is not one of 'console', 'json'"),
        (["scan", "a", "b", "--revision", "v1"], "hint: write the revision at each target: a@v1"),
        (["--color", "pink", "doctor"], "'pink' is not one of"),
        (["explain", "x", "--registry", "9.9"], "registry '9.9' is no snapshot and no file"),
    ],
)
def test_usage_errors(tpu_audit: CommandLine, args: list[str], says: str) -> None:
    """A wrong invocation is 2: what, the value, how to fix it; nothing on stdout."""
    ran = tpu_audit(*args)

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert says in ran.err


def test_no_command_shows_help(tpu_audit: CommandLine) -> None:
    """Without a command the help is shown on stderr, and the exit code says that nothing ran."""
    ran = tpu_audit()

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Usage: tpu-audit")


def test_closed_pipe_is_quiet(tmp_path: Path) -> None:
    """A reader that goes away ends the tool as it ends any other: 141, not a word."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "tpu_audit", "registry", "list", "-f", "json"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    os.close(writer)

    assert (done.returncode, done.stderr) == (141, "")


def test_full_disk_is_said(tmp_path: Path) -> None:
    """A stdout that cannot be written is an error with its reason."""
    script = f"{sys.executable} -m tpu_audit registry stats > /dev/full"
    done = subprocess.run(
        ["bash", "-c", script],  # noqa: S607 - any bash
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )

    assert done.returncode == 2
    assert "error: cannot write to standard output: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_poor_encoding(tmp_path: Path) -> None:
    """A terminal that knows ASCII only gets escapes instead of an error."""
    env = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    ran = fresh(["explain", "modèle"], cwd=tmp_path, env=env)

    assert ran.code == 2
    assert "'mod\\xe8le' is no finding code" in ran.err


def test_ctrl_c(tmp_path: Path) -> None:
    """Ctrl-C ends the tool with 130 and one line."""
    script = (
        "import time\n"
        "from tpu_audit.cli.commands import explain\n"
        "def load(_):\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
        "explain.load = load\n"
        "from tpu_audit.cli.run import run\n"
        "raise SystemExit(run(['explain', 'add']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == "note: interrupted\n"
    assert process.returncode == 130
