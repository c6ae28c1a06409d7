"""A registry extracted by another interpreter."""

from __future__ import annotations

import json
import stat
import sys
from typing import TYPE_CHECKING

import pytest

from op_registry.loader import SNAPSHOTS, load
from tests.support.wheel import PYTHON, needs_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_line import CommandLine

PACKAGED = SNAPSHOTS / "torch-tpu-0.2.0-torch-2.13.json"


def interpreter(folder: Path, script: str) -> str:
    """Write a program that answers like an interpreter that has torch-tpu.

    ``script`` is what it does when it is asked to run ``$module`` and write to ``$out``.
    """
    path = folder / "python"
    probe = 'if [ "$1" = -c ]; then echo 0.2.0; exit; fi'
    arguments = "module=$7 out=$8"
    path.write_text(f"#!/bin/sh\n{probe}\n{arguments}\n{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_build(tpu_audit: CommandLine, tmp_path: Path) -> None:
    """What the child wrote is checked, stored under its versions, and can be used by path."""
    python = interpreter(
        tmp_path, f'test "$module" = op_registry.build.child && cp {PACKAGED} "$out"'
    )
    ran = tpu_audit("registry", "build", "--python", python)

    assert ran.code == 0, ran.err
    assert ran.out == "torch-tpu-0.2.0-torch-2.13.json\n"
    built = load(str(tpu_audit.folder / "torch-tpu-0.2.0-torch-2.13.json"))
    assert built.digest == load("0.2.0+torch2.13").digest

    args = ("--python", python, "-o", "own.json", "-f", "json")
    told = json.loads(tpu_audit("registry", "build", *args).out)
    assert (told["path"], told["digest"], told["version"]) == ("own.json", built.digest, "0.2.0")


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("echo no dispatcher >&2; exit 1", "failed: no dispatcher"),
        ("kill -SEGV $$", "the child said nothing"),
        ('echo "{" > "$out"', "not a registry snapshot"),
    ],
)
def test_failures(tpu_audit: CommandLine, tmp_path: Path, script: str, says: str) -> None:
    """An interpreter without torch-tpu, a crash and a broken result are 2; nothing is written."""
    ran = tpu_audit("registry", "build", "--python", interpreter(tmp_path, script))

    assert ran.code == 2
    assert says in ran.err
    assert list(tpu_audit.folder.iterdir()) == []


def test_no_interpreter(tpu_audit: CommandLine) -> None:
    """A path that is no interpreter, and a file that cannot be written, are said at once."""
    ran = tpu_audit("registry", "build", "--python", "/no/python")
    assert ran.code == 2
    assert "no Python interpreter at '/no/python'" in ran.err
    ran = tpu_audit("registry", "build", "--python", sys.executable, "-o", "no/where.json")
    assert "there is no folder" in ran.err


def test_interpreter_without_the_wheel(tpu_audit: CommandLine) -> None:
    """An environment without torch-tpu is told how to get it."""
    ran = tpu_audit("registry", "build", "--python", sys.executable)
    assert ran.code == 2
    assert "has no torch-tpu" in ran.err


@needs_wheel
@pytest.mark.timeout(1800)
def test_the_wheel(tpu_audit: CommandLine) -> None:
    """The real wheel gives the packaged snapshot of its versions, byte for byte."""
    ran = tpu_audit("registry", "build", "--python", str(PYTHON))

    built = tpu_audit.folder / ran.out.strip()
    assert built.read_bytes() == (SNAPSHOTS / built.name).read_bytes()
