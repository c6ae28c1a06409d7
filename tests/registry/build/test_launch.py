"""Starting the builder, and what it says when that does not work."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from op_registry.build import build
from op_registry.build.bootstrap import command
from op_registry.errors import RegistryError


def fake_interpreter(folder: Path, *, version: str, then: str) -> str:
    """Write a script that answers the question for torch-tpu, then does something else."""
    path = folder / "python"
    body = f'case "$1" in -c) {version};; *) {then};; esac'
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_no_such_interpreter(tmp_path: Path) -> None:
    """A path that is no program is an error with the way to name one."""
    with pytest.raises(RegistryError, match="no Python interpreter at '/nowhere/python'") as caught:
        build("/nowhere/python", tmp_path / "out.json")
    assert "--python" in str(caught.value.hint)


def test_environment_without_the_wheel(tmp_path: Path) -> None:
    """An interpreter without torch-tpu is an error that says how to install it there."""
    python = fake_interpreter(tmp_path, version="exit 1", then="exit 0")
    with pytest.raises(RegistryError, match="has no torch-tpu") as caught:
        build(python, tmp_path / "out.json")
    assert f"{python} -m pip install torch-tpu" in str(caught.value.hint)


def test_program_that_is_no_interpreter(tmp_path: Path) -> None:
    """A file that cannot be executed as a program is an error."""
    path = tmp_path / "python"
    path.write_bytes(b"\x00\x01")
    path.chmod(0o755)
    with pytest.raises(RegistryError, match="does not run as a Python interpreter"):
        build(str(path), tmp_path / "out.json")


def test_child_that_crashes(tmp_path: Path) -> None:
    """The end of what the child said is in the message, and no file is left."""
    python = fake_interpreter(tmp_path, version="echo 0.2.0", then="echo boom >&2; exit 3")
    with pytest.raises(RegistryError, match="building the registry failed: boom"):
        build(python, tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_child_that_hangs(tmp_path: Path) -> None:
    """A child that takes too long is stopped together with its own children."""
    python = fake_interpreter(tmp_path, version="echo 0.2.0", then="sleep 60")
    started = time.monotonic()
    with pytest.raises(RegistryError, match="took longer than 1 s"):
        build(python, tmp_path / "out.json", timeout=1)
    assert time.monotonic() - started < 20


def test_child_that_writes_nonsense(tmp_path: Path) -> None:
    """What the child writes is checked before it becomes a file."""
    script = 'for last; do :; done; echo "{}" > "$last"'
    python = fake_interpreter(tmp_path, version="echo 0.2.0", then=script)
    with pytest.raises(RegistryError, match="not a registry snapshot"):
        build(python, tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_the_child_sees_only_its_own_packages() -> None:
    """The package is loaded by its path: what lies beside it does not hide the child's packages."""
    call = command(sys.executable, "op_registry.build.probe_that_is_not_there")
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert "No module named op_registry.build.probe_that_is_not_there" in done.stderr
    around = str(Path(__file__).parents[3])
    code = "import sys; print(sys.path)"
    call[call.index("-c") + 1] = call[call.index("-c") + 1].split("runpy.run_module")[0] + code
    listed = subprocess.run(call, capture_output=True, text=True, check=True).stdout
    assert f"'{around}'" not in listed
