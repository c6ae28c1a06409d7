"""Repaired files on disk: whole, with their permissions, never over somebody's change."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from tpu_audit.fix.write import write_bytes
from tpu_audit.types.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_mode_and_links(tmp_path: Path) -> None:
    """The permissions stay; a link stays a link to the file, which is replaced."""
    path, link = tmp_path / "a.sh", tmp_path / "link.sh"
    path.write_bytes(b"old")
    path.chmod(0o751)
    link.symlink_to(path)
    write_bytes(str(link), b"old", b"new")

    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert link.is_symlink()
    assert {entry.name for entry in tmp_path.iterdir()} == {"a.sh", "link.sh"}


def test_changed_meanwhile(tmp_path: Path) -> None:
    """What somebody else has written since is left alone."""
    path = tmp_path / "a.py"
    path.write_bytes(b"theirs")

    with pytest.raises(UsageError, match="was changed while it was repaired"):
        write_bytes(str(path), b"old", b"new")
    assert path.read_bytes() == b"theirs"


def test_no_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When writing fails the old file is there, whole, and nothing else is left."""
    path = tmp_path / "a.py"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdopen", fail)
    with pytest.raises(UsageError, match="No space left on device"):
        write_bytes(str(path), b"old", b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.py"]
