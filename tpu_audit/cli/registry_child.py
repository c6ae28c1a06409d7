"""Runs the registry's builder in the interpreter that has torch-tpu."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import op_registry
from op_registry.codec import decode
from tpu_audit.types.errors import UsageError

if TYPE_CHECKING:
    from op_registry.schema import Snapshot

_MODULE = "op_registry.build.child"
_TIMEOUT_S = 1800.0
_LAST_LINES = 3


def build(python: str) -> tuple[Snapshot, bytes]:
    """Extract a registry with the interpreter ``python``; return it and its canonical bytes.

    Raises UsageError when there is no such interpreter, or when it cannot extract one: no
    torch-tpu, a version that the builder does not know, a crash, half an hour without an end.
    """
    interpreter = shutil.which(python)
    if interpreter is None:
        hint = "--python takes the path of a Python interpreter"
        raise UsageError(f"no interpreter {python!r}", hint=hint)
    with tempfile.TemporaryDirectory(prefix="tpu-audit-") as folder:
        # Only the builder itself goes on the child's path: our own site-packages would put our
        # torch in front of the one to look into.
        home, target = Path(folder, "path"), Path(folder, "snapshot.json")
        home.mkdir()
        (home / "op_registry").symlink_to(Path(op_registry.__file__).parent)
        _run([interpreter, "-m", _MODULE, str(target)], home, python)
        data = target.read_bytes()
    return decode(data, origin=f"the registry built by {python}"), data


def _run(command: list[str], home: Path, python: str) -> None:
    env = {**os.environ, "PYTHONPATH": str(home)}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            env=env,
            cwd=home,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"cannot extract a registry with {python!r}: {error}") from error
    if done.returncode:
        last = " / ".join(done.stderr.strip().splitlines()[-_LAST_LINES:]) or "no message"
        message = f"{python!r} could not extract a registry (exit code {done.returncode}): {last}"
        hint = "install torch-tpu there, or name another interpreter with --python"
        raise UsageError(message, hint=hint)
