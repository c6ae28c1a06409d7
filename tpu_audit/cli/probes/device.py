"""Whether the private torch APIs behind the pretended device work here, tried in a child."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import tpu_audit
from tpu_audit.cli.probes.check import Check, Health

_MODULE = "tpu_audit.trace.selftest"
_TIMEOUT_S = 60.0


def check_device() -> list[Check]:
    """Run the tracer's self-test in a child process and return its answers."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", _MODULE],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            env=_environment(),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [_broken(f"the self-test did not end: {error}")]
    try:
        return _checks(json.loads(done.stdout))
    except (ValueError, KeyError, TypeError):
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        return [_broken(f"the self-test failed with exit code {done.returncode}: {last}")]


def _environment() -> dict[str, str]:
    """Let the child import this very package, however this process found it."""
    home = str(Path(tpu_audit.__file__).parents[1])
    inherited = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (home, inherited)))}


def _checks(answer: Any) -> list[Check]:
    return [
        Check(name="device", health=Health.OK, detail=check["name"])
        if check["ok"]
        else _broken(f"{check['name']}: {check['error']}")
        for check in answer["checks"]
    ]


def _broken(detail: str) -> Check:
    hint = 'install a supported torch: pip install "tpu-audit[scan]"'
    return Check(name="device", health=Health.BROKEN, detail=detail, hint=hint)
