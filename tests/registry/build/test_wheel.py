"""Building from the real wheel: repeatable, and what is committed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from op_registry.build import build
from op_registry.loader import SNAPSHOTS

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = os.environ.get("TPU_AUDIT_TEST_TPU_PYTHON")


@pytest.mark.tpu
@pytest.mark.timeout(3600)
@pytest.mark.skipif(PYTHON is None, reason="TPU_AUDIT_TEST_TPU_PYTHON names no interpreter")
def test_building_repeats_the_committed_snapshot(tmp_path: Path) -> None:
    """Two builds give the same bytes; with the committed snapshot's versions, the same as it."""
    first = build(PYTHON, tmp_path / "first.json")
    build(PYTHON, tmp_path / "second.json")
    data = (tmp_path / "first.json").read_bytes()
    assert data == (tmp_path / "second.json").read_bytes()
    minor = ".".join(first.torch.split(".")[:2])
    committed = SNAPSHOTS / f"torch-tpu-{first.version}-torch-{minor}.json"
    same_versions = committed.read_bytes().split(b'"ops"')[0] == data.split(b'"ops"')[0]
    assert not same_versions or data == committed.read_bytes()
