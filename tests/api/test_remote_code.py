"""Repositories with code of their own, through a whole scan."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.confined import needs_confinement
from tpu_audit.api.options import ScanOptions
from tpu_audit.api.scanner import scan
from tpu_audit.types.errors import UsageError
from tpu_audit.types.report import Report, Status, Verdict

REPOSITORY = Path(__file__).parents[1] / "data" / "own_code"


def repository(folder: Path, **config: Any) -> tuple[str, Path]:
    """Copy the repository; return its path, and a file that its code makes wherever it runs."""
    home = folder / "repository"
    shutil.copytree(REPOSITORY, home)
    ran = folder / "ran"
    for path in home.glob("*.py"):
        touch = f"    open({str(ran)!r}, 'w').close()\n"
        tries = f"import contextlib\nwith contextlib.suppress(OSError):\n{touch}"
        path.write_text(tries + path.read_text())
    content = json.loads((home / "config.json").read_text()) | config
    (home / "config.json").write_text(json.dumps(content))
    return str(home), ran


def scanned(target: str, folder: Path, **options: Any) -> Report:
    """Scan one forward pass of ``target``."""
    return scan(
        [target], options=ScanOptions(phases=("forward",), cache_dir=folder / "cache", **options)
    )


def test_never_run_without_leave(tmp_path: Path) -> None:
    """By default the code is not executed, and nothing stands in for a class that is like none."""
    target, ran = repository(tmp_path)
    report = scanned(target, tmp_path)

    (phase,) = report.models[0].phases
    assert (phase.status, phase.reason_code) == (Status.SKIPPED, "remote_code")
    assert phase.verdict is Verdict.UNKNOWN
    assert "--trust-remote-code" in (phase.reason or "")
    assert not ran.exists()


def test_a_stand_in_is_told_of_loudly(tmp_path: Path) -> None:
    """The nearest class is traced without running the code; the verdict stays unknown."""
    sizes = {"intermediate_size": 32, "num_attention_heads": 2}
    target, ran = repository(tmp_path, model_type="llama", **sizes)
    report = scanned(target, tmp_path)

    (model,) = report.models
    (phase,) = model.phases
    assert (phase.status, phase.verdict) == (Status.TRACED, Verdict.UNKNOWN)
    assert model.architecture == "LlamaForCausalLM"
    assert "TinyForCausalLM is code of the repository's own" in (phase.stand_in or "")
    assert [f.code for f in report.findings if f.message == phase.stand_in] == ["TPA927"]
    assert not ran.exists()


@needs_confinement
def test_run_with_leave(tmp_path: Path) -> None:
    """With leave the class itself is judged; files it makes are nowhere; the trace is kept."""
    target, ran = repository(tmp_path)
    report = scanned(target, tmp_path, trust_remote_code=True)

    (model,) = report.models
    (phase,) = model.phases
    assert (model.architecture, phase.verdict) == ("TinyForCausalLM", Verdict.BLOCKED)
    assert phase.stand_in is None
    assert any("was run" in f.message for f in report.findings if f.code == "TPA920")
    assert not ran.exists()

    again = scanned(target, tmp_path, trust_remote_code=True)
    assert again.models[0].phases[0].cached

    model_file = Path(target, "modeling_tiny.py")
    model_file.write_text(model_file.read_text().replace("functional.mish", "functional.relu"))
    changed = scanned(target, tmp_path, trust_remote_code=True)
    assert not changed.models[0].phases[0].cached
    assert changed.models[0].phases[0].verdict is Verdict.READY


def test_only_on_the_pretended_device() -> None:
    """The wheel's tracer confines nothing, so it runs no such code."""
    with pytest.raises(UsageError, match="runs no code"):
        ScanOptions(trust_remote_code=True, tracer="torch_tpu")
