"""A verification that is killed in the middle goes on where it was."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import sys
from pathlib import Path
from op_registry.verify import crew
from op_registry.verify.pipeline import Pipeline
from op_registry.verify.plan import Selection
from op_registry.verify.tools import NEEDED
from op_registry.verify.workspace import Workspace
from tests.support.fake_hand import FakeHand, sample

folder, pause = Path(sys.argv[1]), float(sys.argv[2])
chips = [f"chip{n}" for n in range(40)]
script = {"float32": {"aten.add.Tensor": [sample(0)]}}
fake = FakeHand(script=script, log=folder / "log", pause=pause)
crew.Hand = lambda _: fake
stages = dict.fromkeys(("lower", "compile", "numerics", "gradient", "edges"), "1")
space = Workspace(folder / "work", dict.fromkeys(NEEDED, "1"), stages)
with space.journal:
    selection = Selection(dtypes=("float32",), chips=chips)
    Pipeline(space, "python", selection, ["aten.add.Tensor"]).run(1)
"""


def start(folder: Path, pause: float) -> subprocess.Popen[bytes]:
    """Start a verification of 40 compilations that take ``pause`` seconds each."""
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder), str(pause)])


def compiled(folder: Path) -> list[str]:
    """Return the compilations that were done so far."""
    log = folder / "log"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [line for line in lines if line.startswith("compile")]


def test_kill(tmp_path: Path) -> None:
    """SIGKILL at any time loses at most the step under way; no other is done twice."""
    first = start(tmp_path, 0.05)
    deadline = time.monotonic() + 60
    while len(compiled(tmp_path)) < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    first.wait(10)
    before = compiled(tmp_path)

    assert start(tmp_path, 0.0).wait(60) == 0

    assert 5 <= len(before) < 40
    every = compiled(tmp_path)
    assert set(every) == {f"compile chip{n} add" for n in range(40)}
    assert len(every) <= 41
