"""``registry verify`` on the command line, with a stand-in for the children."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from op_registry.loader import load
from op_registry.schema import EvidenceKind
from op_registry.verify import crew
from op_registry.verify.tools import Tools
from tests.support.fake_hand import AGREES, FakeHand, sample, values
from tpu_audit.cli.commands import registry_verify
from tpu_audit.cli.verify_progress import VerifyProgress

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_line import CommandLine

VERSIONS = {
    "torch": "2.13.0+cpu",
    "torch-tpu": "0.2.0",
    "libtpu": "0.0.52",
    "jax": "0.10.2",
    "jaxlib": "0.10.2",
}
OP = "aten.add.Tensor"
SCRIPT: dict[str, dict[str, list[dict[str, Any]]]] = {
    "float32": {OP: [sample(0, values=values("v")), sample(1, None, lowered=["rejected", "no"])]},
    "int64": {OP: [sample(0)]},
}
VERIFY = ("registry", "verify", "--ops", OP)


@pytest.fixture
def hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHand:
    """Put stand-ins in the place of the children and of the environment that has the wheel."""
    fake = FakeHand(script=SCRIPT, log=tmp_path / "log")
    monkeypatch.setattr(crew, "Hand", lambda _: fake)
    tools = Tools(python="python", versions=VERSIONS)
    monkeypatch.setattr(registry_verify, "find_tools", lambda _: tools)
    return fake


def test_verify(tpu_audit: CommandLine, hand: FakeHand) -> None:
    """The registry of the tools' versions is written with the evidence; counts are shown."""
    ran = tpu_audit(*VERIFY, "--dtype", "f32,i64", "-j", "1")

    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0] == "torch-tpu-0.2.0-torch-2.13.json"
    assert lines[3].split() == ["float32", "1", "1/2", "1/1", "1/1", "1/1", "1/1", "1/1"]
    assert lines[4].split() == ["int64", "1", "1/1", "1/1", "1/1", "1/1", "1/1"]
    assert "1 ops with samples" in ran.err
    made = load(str(tpu_audit.folder / lines[0]))
    assert made.versions["jax"] == "0.10.2"
    record = made.ops[OP]
    assert record.dtypes["float32"]["lowered"] == ["1/2", ["rejected", "no", 1]]
    assert {e.kind for e in record.evidence} >= {EvidenceKind.LOWERED, EvidenceKind.NUMERICS}
    assert hand.calls()


def test_json(tpu_audit: CommandLine, hand: FakeHand) -> None:
    """For scripts: where, which digest, how much was done and reused, and counts by dtype."""
    args = (*VERIFY, "--dtype", "f32", "--chip", "v6e", "-o", "own.json", "-f", "json")
    first = json.loads(tpu_audit(*args).out)
    second = json.loads(tpu_audit(*args).out)

    assert hand.calls()
    assert first["digest"] == load(str(tpu_audit.folder / "own.json")).digest == second["digest"]
    assert first["done"] == {"lower": 1, "compile": 1, "numerics": 1}
    assert (first["reused"], second["reused"]) == (0, 2)
    assert first["dtypes"]["float32"]["lowered"] == {"ops": 1, "passed": 1, "tried": 2}


def test_report(tpu_audit: CommandLine, hand: FakeHand) -> None:
    """A report has what failed twice."""
    differs = {"outcome": "differs", "cause": "values", "kind": "values", "message": "3, not 4"}
    hand.answers |= {"add": AGREES | differs, "again": AGREES | differs}
    counts = {"inputs": 2, "outputs": 1, "references": 0, "undefined": [], "raises": ""}
    hand.variants = [{"name": "same", "program": "again", "values": "v", "code": "...", **counts}]

    ran = tpu_audit(*VERIFY, "--dtype", "f32", "--report", "page.json")

    assert ran.code == 0, ran.err
    page = json.loads((tpu_audit.folder / "page.json").read_text(encoding="utf-8"))
    assert page["confirmed"] == 1
    assert page["groups"][0]["discrepancies"][0]["op"] == OP


@pytest.mark.usefixtures("hand")
def test_interrupt(tpu_audit: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends with 130 and the command that goes on."""

    def press(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(VerifyProgress, "pipeline", press)

    ran = tpu_audit(*VERIFY, "--dtype", "f32,bf16", "-j", "1", "--work-dir", "w")

    assert ran.code == 130
    line = "tpu-audit registry verify --ops aten.add.Tensor --dtype float32,bfloat16 --jobs 1"
    assert f"go on with: {line} --work-dir w" in ran.err
    assert not (tpu_audit.folder / "torch-tpu-0.2.0-torch-2.13.json").exists()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--ops", "aten.nonsense"), "matches 'aten.nonsense'"),
        (("--dtype", "f3"), "'f3' is not a dtype"),
        (("--chip", "v9"), "'v9' is not a TPU generation"),
        (("--stages", "lowre"), "did you mean"),
        (("--sample", "0"), "sample"),
        (("--registry", "0.2.0+torch2.14"), "was extracted with torch 2.14"),
        (("--report", "page.pdf"), "'page.pdf' is not known"),
        (("-o", "no/where.json"), "there is no folder"),
    ],
)
@pytest.mark.usefixtures("hand")
def test_wrong_input(tpu_audit: CommandLine, args: tuple[str, ...], says: str) -> None:
    """Wrong input is told before any work, with exit code 2 and no traceback."""
    ran = tpu_audit("registry", "verify", *args)

    assert ran.code == 2
    assert says in ran.err
    assert "Traceback" not in ran.err


def test_no_tools(tpu_audit: CommandLine) -> None:
    """An environment without the wheel is named, with what to install."""
    ran = tpu_audit("registry", "verify", "--python", sys.executable)

    assert ran.code == 2
    assert "has no " in ran.err
    assert "tpu-audit[tpu]" in ran.err
    ran = tpu_audit("registry", "verify", "--python", os.devnull)
    assert ran.code == 2
