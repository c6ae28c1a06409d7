"""Outputs: refused before the work, written whole."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.reports import report
from tpu_audit import api
from tpu_audit.cli.outputs import write_atomically
from tpu_audit.types.errors import UsageError

if TYPE_CHECKING:
    from tests.support.command_line import CommandLine
    from tpu_audit.types.report import Report


@pytest.fixture(name="scans")
def _scans(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Replace the audit by a ready report; list the targets it was asked for."""
    asked: list[tuple[str, ...]] = []

    def scan(targets: tuple[str, ...], **_: object) -> Report:
        asked.append(targets)
        return report()

    monkeypatch.setattr(api, "scan", scan)
    return asked


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("report.json", "'report.json' must be FORMAT=PATH, e.g. json=report.json"),
        ("json=", "'json=' must be FORMAT=PATH"),
        ("jsn=x", "'jsn' is not a format: did you mean 'json'?"),
        ("pdf=x", "'pdf' is not a format: one of console, json"),
        ("json=absent/x.json", "cannot write 'absent/x.json': there is no folder"),
        ("json=.", "cannot write '.': it is a folder"),
        ("json=shut/x.json", "cannot write 'shut/x.json': no permission"),
    ],
)
def test_bad_outputs_are_refused_first(
    tpu_audit: CommandLine,
    scans: list[tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
    spec: str,
    says: str,
) -> None:
    """A bad format or an unwritable path is 2 before any model is traced."""
    (tpu_audit.folder / "shut").mkdir()
    may = os.access
    # The user of a container may write anywhere, so the answer is made up for one folder.
    monkeypatch.setattr(
        os, "access", lambda path, mode: "shut" not in str(path) and may(path, mode)
    )
    ran = tpu_audit("scan", "x", "-o", spec)

    assert ran.code == 2
    assert says in ran.err
    assert scans == []


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["-f", "console", "-o", "json=-"], "two reports on standard output: console and json"),
        (["-o", "json=a", "-o", "console=./a"], "two outputs in one file: a and ./a"),
    ],
)
def test_outputs_do_not_share(
    tpu_audit: CommandLine, scans: list[tuple[str, ...]], args: list[str], says: str
) -> None:
    """Two reports never end up in one place."""
    ran = tpu_audit("scan", "x", *args)

    assert ran.code == 2
    assert says in ran.err
    assert scans == []


def test_several_outputs(tpu_audit: CommandLine, scans: list[tuple[str, ...]]) -> None:
    """One run gives a report on stdout and every file that was asked for, files without colour."""
    args = ("-o", "json=r.json", "-o", "console=r.txt")
    ran = tpu_audit("--color", "always", "scan", "x", *args)

    assert scans == [("x",)]
    assert ran.code == 1
    assert "\x1b[1;31mBLOCKED" in ran.out
    text = (tpu_audit.folder / "r.txt").read_text(encoding="utf-8")
    assert text.startswith("bert-base-uncased  forward bfloat16  BLOCKED\n")
    document = json.loads((tpu_audit.folder / "r.json").read_text(encoding="utf-8"))
    assert document["models"][0]["parameters"] == 109_514_298


def test_dash_is_stdout(tpu_audit: CommandLine, scans: list[tuple[str, ...]]) -> None:
    """``-o json=-`` prints JSON and nothing else, as ``-f json`` does."""
    ran = tpu_audit("scan", "x", "-o", "json=-")

    assert json.loads(ran.out)["schema"] == "tpu-audit/report/1"
    assert tpu_audit("scan", "x", "-f", "json").out == ran.out
    assert len(scans) == 2


def test_atomic_write_keeps_the_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When writing fails half way, the old file is untouched and nothing is left behind."""
    path = tmp_path / "r.json"
    path.write_text("old", encoding="utf-8")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(UsageError, match="No space left on device"):
        write_atomically(path, "new")

    assert [item.name for item in tmp_path.iterdir()] == ["r.json"]
    assert path.read_text(encoding="utf-8") == "old"


def test_write_follows_links_and_permissions(tmp_path: Path) -> None:
    """A link stays a link, permissions stay, a device is written to and not replaced."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old", encoding="utf-8")
    real.chmod(0o640)
    link.symlink_to(real)

    write_atomically(link, "new")
    write_atomically(Path(os.devnull), "gone")

    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "new"
    assert real.stat().st_mode & 0o777 == 0o640
    assert Path(os.devnull).is_char_device()
