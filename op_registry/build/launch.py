"""Builds a snapshot in a child process of the interpreter that has the wheel."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from op_registry.build.bootstrap import command, environment
from op_registry.codec import decode
from op_registry.errors import RegistryError

if TYPE_CHECKING:
    from op_registry.schema import Snapshot

TIMEOUT_SECONDS = 1800.0
_PROBE = "import importlib.metadata as m; print(m.version('torch-tpu'))"
_PYTHON = "give the interpreter of an environment with torch-tpu: --python /path/to/venv/bin/python"
_INSTALL = "install it there: {python} -m pip install torch-tpu expecttest"


def build(python: str | None, out: Path, *, timeout: float = TIMEOUT_SECONDS) -> Snapshot:
    """Extract the registry of the environment of ``python`` and write it to ``out``.

    ``python`` defaults to this interpreter; ``timeout`` is in seconds. ``out`` appears whole or not
    at all. Raises RegistryError: no such interpreter, no torch-tpu in it, a child that crashed or
    took too long, an ``out`` that cannot be written.
    """
    interpreter = _interpreter(python)
    _require_wheel(interpreter)
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder, "snapshot.json")
        _run(command(interpreter, "op_registry.build.child", str(raw)), timeout)
        data = raw.read_bytes()
    snapshot = decode(data, origin=f"the snapshot built by {interpreter}")
    _write(out, data)
    return snapshot


def _interpreter(python: str | None) -> str:
    found = shutil.which(python or sys.executable)
    if found is None:
        raise RegistryError(f"no Python interpreter at {python!r}", hint=_PYTHON)
    return found


def _require_wheel(python: str) -> None:
    try:
        done = subprocess.run(
            [python, "-c", _PROBE], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RegistryError(
            f"{python!r} does not run as a Python interpreter: {error}", hint=_PYTHON
        ) from error
    if done.returncode != 0 or not done.stdout.strip():
        message = f"the environment of {python!r} has no torch-tpu"
        raise RegistryError(message, hint=_INSTALL.format(python=python))


def _run(call: list[str], timeout: float) -> None:
    # A session of its own: on a timeout the child's own children have to go as well.
    with subprocess.Popen(
        call,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as child:
        try:
            _, stderr = child.communicate(timeout=timeout)
        except BaseException as error:
            os.killpg(child.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            message = f"building the registry took longer than {timeout:.0f} s and was stopped"
            raise RegistryError(
                message, hint="allow more time, or try a less busy machine"
            ) from error
    if child.returncode != 0:
        raise RegistryError(f"building the registry failed: {_tail(stderr)}", hint=_PYTHON)


def _tail(stderr: str) -> str:
    lines = [line for line in stderr.splitlines() if line.strip()]
    return "\n".join(lines[-15:]) or "the child said nothing"


def _write(out: Path, data: bytes) -> None:
    partial = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(data)
        partial.replace(out)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise RegistryError(f"cannot write the snapshot to {str(out)!r}: {error}") from error
