"""A registry extracted by another interpreter."""

from __future__ import annotations

import json
import stat
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from op_registry.evidence import Cause, of
from op_registry.loader import SNAPSHOTS, load
from op_registry.verify.verdict import as_built
from tests.support.wheel import PYTHON, needs_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from op_registry.schema import OpRecord
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


VERIFIED = ("dtypes", "random", "refusals", "reference", "reference_checks", "reference_note")
"""Fields that verification, and comparing definitions, fill in after a build."""


def before_verification(packaged: OpRecord, built: OpRecord) -> OpRecord:
    """Return the packaged record without what verification put into it.

    Of evidence and hazards that is what comes after, and besides, those that ``built`` has.
    """
    return replace(
        as_built(packaged),
        evidence=packaged.evidence[: len(built.evidence)],
        hazards={h: packaged.hazards.get(h, "") for h in built.hazards},
        **{name: getattr(built, name) for name in VERIFIED},
    )


def crashes(record: OpRecord) -> bool:
    """Tell whether every sample of the op ended the process."""
    lowered = [known.lowered for dtype in record.dtypes if (known := of(record, dtype))]
    causes = {said.cause for tally in lowered for said in tally.said}
    return causes == {Cause.CRASHED} and not any(tally.passed for tally in lowered)


@needs_wheel
@pytest.mark.timeout(1800)
def test_the_wheel(tpu_audit: CommandLine) -> None:
    """The real wheel gives what the packaged snapshot held before it was verified, op by op.

    Left out is what crashed in every sample when it was verified: whether it crashes the builder
    too is up to what the memory holds.
    """
    ran = tpu_audit("registry", "build", "--python", str(PYTHON))

    built = load(str(tpu_audit.folder / ran.out.strip()))
    packaged = load(str(SNAPSHOTS / ran.out.strip()))
    assert built.record_sha256 == packaged.record_sha256
    assert built.versions.items() <= packaged.versions.items()
    assert built.ops.keys() == packaged.ops.keys()
    assert not any(getattr(r, name) for r in built.ops.values() for name in VERIFIED)
    steady = {op: record for op, record in built.ops.items() if not crashes(packaged.ops[op])}
    assert len(built.ops) - len(steady) < 20
    held = {op: before_verification(packaged.ops[op], record) for op, record in steady.items()}
    assert [op for op, record in steady.items() if record != held[op]] == []
