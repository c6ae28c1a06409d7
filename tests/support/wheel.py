"""Runs code where the real torch-tpu wheel is: the interpreter that CI names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tpu_audit.trace.oracle import CHILD_ENVIRONMENT

ROOT = Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("TPU_AUDIT_TEST_TPU_PYTHON")
needs_wheel = pytest.mark.skipif(
    PYTHON is None, reason="TPU_AUDIT_TEST_TPU_PYTHON names no interpreter with torch-tpu"
)


def run_json(python: str, script: Path, *args: str, stdin: str = "", timeout: float = 600) -> Any:
    """Run ``script`` with ``python`` on this checkout; return the JSON of its last line."""
    done = subprocess.run(
        [python, str(script), *args],
        input=stdin,
        env={**os.environ, **CHILD_ENVIRONMENT, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.rstrip().rpartition("\n")[2])


def both(script: Path, *, stdin: str = "") -> tuple[Any, Any]:
    """Return a script's answers on the pretended device and on the wheel."""
    assert PYTHON is not None
    pretended = run_json(sys.executable, script, "pretended", stdin=stdin)
    return pretended, run_json(PYTHON, script, "torch_tpu", stdin=stdin)
