"""Bytes of a file, or why there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.trees import tree
from tpu_audit.check import source
from tpu_audit.check.result import Gap
from tpu_audit.check.source import read_bytes

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too big, gone, or no file at all: each with its reason."""
    tree(tmp_path, {"a.py": "x"})
    assert read_bytes(str(tmp_path / "a.py"), "python") == b"x"
    monkeypatch.setattr(source, "DEFAULT_MAX_BYTES", 0)
    found = [read_bytes(str(tmp_path / name), "python") for name in ("a.py", "gone.py", ".")]

    assert [gap.code for gap in found if isinstance(gap, Gap)] == [
        "too_large",
        "unreadable",
        "not_a_file",
    ]
