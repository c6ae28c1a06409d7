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
    """Write a program that answers like an interpreter: it gets ``-m MODULE PATH``."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_build(tpu_audit: CommandLine, tmp_path: Path) -> None:
    """What the child wrote is checked, stored under its versions, and can be used by path."""
    python = interpreter(tmp_path, f'test "$2" = op_registry.build.child && cp {PACKAGED} "$3"')
    ran = tpu_audit("registry", "build", "--python", python)

    assert ran.code == 0, ran.err
    assert ran.out == "torch-tpu-0.2.0-torch-2.13.json\n"
    built = load(str(tpu_audit.folder / "torch-tpu-0.2.0-torch-2.13.json"))
    assert built.digest == load("0.2.0+torch2.13").digest

    args = ("--python", python, "-o", "own.json", "-f", "json")
    told = json.loads(tpu_audit("registry", "build", *args).out)
    assert (told["path"], told["digest"], told["version"]) == ("own.json", built.digest, "0.2.0")


def test_only_the_builder_is_on_the_path(tpu_audit: CommandLine, tmp_path: Path) -> None:
    """The child sees the builder and none of this environment's packages."""
    python = interpreter(tmp_path, 'ls "$PYTHONPATH" > seen; cat seen >&2; exit 1')
    ran = tpu_audit("registry", "build", "--python", python)

    assert ran.code == 2
    assert "could not extract a registry (exit code 1): op_registry" in ran.err.replace(
        "seen / ", ""
    )


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("echo no torch_tpu >&2; exit 1", "(exit code 1): no torch_tpu"),
        ("kill -SEGV $$", "(exit code -11)"),
        ("echo '{' > \"$3\"", "not a registry snapshot"),
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
    assert (
        "no interpreter '/no/python'"
        in tpu_audit("registry", "build", "--python", "/no/python").err
    )
    ran = tpu_audit("registry", "build", "--python", sys.executable, "-o", "no/where.json")
    assert "there is no folder" in ran.err


@needs_wheel
def test_the_wheel(tpu_audit: CommandLine) -> None:
    """The real wheel gives the packaged snapshot of its versions, byte for byte."""
    ran = tpu_audit("registry", "build", "--python", str(PYTHON))

    built = tpu_audit.folder / ran.out.strip()
    assert built.read_bytes() == (SNAPSHOTS / built.name).read_bytes()
