"""A confined process reaches nothing; the same attempts succeed where nothing confines them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.confined import ROOT, needs_confinement
from tests.support.hostile import ALLOWED, SECRET, attempts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HARMLESS = {
    *("connect", "unix socket", "environment", "read home", "write home", "start a program"),
    *("fork", "see other processes", "signal the parent"),
}
"""Attempts that a test may let succeed, to show that they can."""


@pytest.fixture(name="port", scope="module")
def _port() -> Iterator[int]:
    """Listen on a port of this host."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture(name="home", scope="module")
def _home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a home folder with a credential in it."""
    home = tmp_path_factory.mktemp("home")
    (home / "token").write_text(SECRET)
    return home


@pytest.fixture(name="inside", scope="module")
def _inside(port: int, home: Path, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Return what succeeded in a confined process."""
    script = ROOT / "tests" / "support" / "hostile.py"
    folder = tmp_path_factory.mktemp("root")
    # The shell stays, with the secret in its environment, beside the process that has none.
    started = 'env -i PYTHONPATH="$1" HOME=/scratch "$2" "$3" "$4" "$5" "$6"; exit $?'
    arguments = [str(ROOT), sys.executable, str(script), str(folder), str(port), str(home)]
    done = subprocess.run(
        ["/bin/sh", "-c", started, "sh", *arguments],
        env={**os.environ, "HF_TOKEN": SECRET},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []
    return set(json.loads(done.stdout))


@needs_confinement
@pytest.mark.parametrize("name", sorted(attempts(0, "").keys() - ALLOWED))
def test_nothing_is_reached(inside: set[str], name: str) -> None:
    """No network, no file but libraries, no credential, no other process, no way out."""
    assert name not in inside


@needs_confinement
def test_the_rest_works(inside: set[str]) -> None:
    """The process lives: it writes scratch files and starts threads."""
    assert inside >= ALLOWED


def test_the_attempts_are_real(port: int, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside, each attempt that does no harm gets what it is after."""
    monkeypatch.setenv("HF_TOKEN", SECRET)
    tries = attempts(port, str(home))
    worked = {name for name in HARMLESS if tries[name]()}

    assert worked == HARMLESS
    assert (home / "written").exists()
