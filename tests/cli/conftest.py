"""Fixtures of the command line's tests."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.support.command_line import CommandLine

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(name="tpu_audit")
def _tpu_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> CommandLine:
    """Give the command line a clean environment, an empty folder and an empty cache."""
    for name in [name for name in os.environ if name.startswith("TPU_AUDIT_")]:
        monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TPU_AUDIT_CACHE_DIR", str(tmp_path / "cache"))
    return CommandLine(capture=capsys, folder=folder)
