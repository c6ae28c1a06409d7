"""Runs the command line as a user does: in this process, or in a fresh one."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tpu_audit.cli.run import run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """What a run left."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandLine:
    """``tpu-audit`` in this process, in a folder of its own, with a cache of its own."""

    capture: pytest.CaptureFixture[str]
    folder: Path

    def __call__(self, *args: str) -> Ran:
        """Run ``tpu-audit ARGS``."""
        code = run(args)
        caught = self.capture.readouterr()
        return Ran(code=code, out=caught.out, err=caught.err)


def fresh(
    args: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    flags: Sequence[str] = (),
) -> Ran:
    """Run ``python FLAGS -m tpu_audit ARGS`` in a new process."""
    done = subprocess.run(
        [sys.executable, *flags, "-m", "tpu_audit", *args],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
    )
    return Ran(code=done.returncode, out=done.stdout, err=done.stderr)
