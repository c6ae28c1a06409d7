"""Whole scripts repaired: the same on the CPU as before, and on the device on a TPU."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.wheel import ROOT
from tpu_audit.check.options import CheckOptions
from tpu_audit.fix.run import fix

SCRIPTS = ROOT / "tests/data/fix_scripts"
RUNNER = ROOT / "tests/support/script_run.py"


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """One script and what is expected of it."""

    name: str
    on_tpu: tuple[str, ...]
    """Ops that compute on the device once it is repaired."""
    on_cpu: tuple[str, ...] = ()
    """Arguments with which the original runs on a host without CUDA."""
    safe: bool = False
    """Whether the safe repairs are enough to reach the device."""


CASES = (
    Script(name="train_amp.py", on_tpu=("gelu", "linear", "linear_backward", "_foreach_addcdiv_")),
    Script(name="inference.py", on_tpu=("convolution", "argmax"), on_cpu=("--device", "cpu")),
    Script(name="ddp.py", on_tpu=("linear", "linear_backward", "pow")),
    Script(name="config_dataclass.py", on_tpu=("linear",), on_cpu=("device=cpu",)),
    Script(name="lit_module.py", on_tpu=("linear", "linear_backward")),
    Script(name="generate.py", on_tpu=("embedding", "bmm", "argmax", "cat"), safe=True),
    Script(name="checkpoint.py", on_tpu=("linear", "linear_backward"), safe=True),
    Script(name="seeding.py", on_tpu=("normal_", "native_dropout"), safe=True),
    Script(name="profile_step.py", on_tpu=("linear", "native_layer_norm"), safe=True),
    Script(name="memory_log.py", on_tpu=("gru",)),
    Script(name="aliases.py", on_tpu=("mm", "native_layer_norm")),
    Script(name="sampler.py", on_tpu=("convolution", "clamp"), safe=True),
    Script(name="notebook.ipynb", on_tpu=("linear", "tanh"), safe=True),
)


ENVIRONMENT = {
    "PYTHONPATH": str(ROOT),
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    "PYTHONHASHSEED": "0",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "0",
    "OMP_NUM_THREADS": "1",  # a fork has none of its parent's threads, and would wait for them
}


def repaired(script: Script, folder: Path, *, unsafe: bool) -> str:
    """Repair a copy of the script, twice; the second time finds nothing to do."""
    folder.mkdir(exist_ok=True)
    path = str(shutil.copy(SCRIPTS / script.name, folder))
    assert fix([path], options=CheckOptions(), unsafe=unsafe, write=True).files
    assert fix([path], options=CheckOptions(), unsafe=unsafe, write=True).files == ()
    return path


def outcomes(where: str, commands: list[list[str]]) -> list[Any]:
    """Run scripts on the CPU or the pretended device; return what each printed."""
    done = subprocess.run(
        [sys.executable, str(RUNNER), where],
        input=json.dumps(commands),
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        timeout=280,
        check=True,
    )
    return list(json.loads(done.stdout))


@pytest.fixture(name="safe", scope="module")
def _safe(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Repair all scripts with safe repairs alone; by name."""
    folder = tmp_path_factory.mktemp("safe")
    return {one.name: repaired(one, folder, unsafe=False) for one in CASES if one.safe}


@pytest.fixture(name="unsafe", scope="module")
def _unsafe(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Repair all scripts with unsafe repairs too; by name."""
    folder = tmp_path_factory.mktemp("unsafe")
    return {one.name: repaired(one, folder, unsafe=True) for one in CASES}


def test_same_on_cpu(safe: dict[str, str], unsafe: dict[str, str]) -> None:
    """Each repaired script prints on the CPU what the original prints."""
    originals = [[str(SCRIPTS / one.name), *one.on_cpu] for one in CASES]
    paths = [*safe.values(), *unsafe.values()]
    answers = outcomes("cpu", [*originals, *([path] for path in paths)])
    before = {one.name: said(answer) for one, answer in zip(CASES, answers, strict=False)}

    for path, answer in zip(paths, answers[len(CASES) :], strict=True):
        assert said(answer) == before[Path(path).name], path


def said(answer: Any) -> str:
    """Return what a script printed to its end, without the profiler's own lines."""
    assert answer["code"] == 0, answer["errors"][-2000:]
    text = "\n".join(
        line for line in answer["out"].splitlines() if line and not line.startswith("USDT")
    )
    assert text
    return text


def test_reaches_the_device(safe: dict[str, str], unsafe: dict[str, str]) -> None:
    """Each repaired script runs to its end on the pretended TPU and computes there."""
    paths = [safe.get(one.name, unsafe[one.name]) for one in CASES]

    for script, answer in zip(CASES, outcomes("pretended", [[p] for p in paths]), strict=True):
        ran = recorded(answer)
        assert ran["error"] is None, script.name
        for op in script.on_tpu:
            assert any(name.startswith(f"aten.{op}.") for name in ran["tpu"]), (script.name, op)
            assert not any(name.startswith(f"aten.{op}.") for name in ran["cpu"]), script.name


def recorded(answer: Any) -> Any:
    """Return what ran where."""
    assert answer["code"] == 0, answer["errors"][-2000:]
    return json.loads(answer["out"].rstrip().rpartition("\n")[2])


def test_originals_do_not() -> None:
    """Without repairs the scripts compute on the host, or stop: the test above can fail."""
    commands = [[str(SCRIPTS / one.name)] for one in CASES]

    for script, answer in zip(CASES, outcomes("pretended", commands), strict=True):
        ran = recorded(answer)
        assert ran["error"] or ran["tpu"] == {}, script.name
