"""Whether this system lets a process be confined."""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_TRY = "import sys; from tpu_audit.trace.confinement import confine; confine(sys.argv[1], [])"


@functools.cache
def _refusal() -> str:
    """Return why a process cannot be confined here; empty where it can."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", _TRY, folder],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    return "" if done.returncode == 0 else done.stderr.strip().rpartition("\n")[2]


needs_confinement = pytest.mark.skipif(
    bool(_refusal()), reason=f"no process can be confined here: {_refusal()}"
)
