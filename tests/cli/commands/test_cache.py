"""The cache: located, measured, cleaned, and nothing else touched."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.reports import report
from tpu_audit import api
from tpu_audit.api.options import default_cache_dir

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_line import CommandLine
    from tpu_audit.types.report import Report


@pytest.fixture(name="cache")
def _cache(tmp_path: Path) -> Path:
    """Fill a cache, with a stranger's file beside ours."""
    cache = tmp_path / "cache"
    for name in ("traces/ab/one.json", "traces/two.json", "resolutions/x.json", "mine.txt"):
        path = cache / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("12345", encoding="utf-8")
    return cache


def test_dir(tpu_audit: CommandLine, tmp_path: Path) -> None:
    """The folder is printed for scripts, wherever the option stands."""
    assert tpu_audit("cache", "dir").out == f"{tmp_path / 'cache'}\n"
    assert tpu_audit("cache", "dir", "--cache-dir", "/else").out == "/else\n"
    assert json.loads(tpu_audit("cache", "dir", "-f", "json").out) == {"path": f"{tmp_path}/cache"}


def test_info(tpu_audit: CommandLine, cache: Path) -> None:
    """Files and bytes of each of our folders are counted."""
    found = json.loads(tpu_audit("cache", "info", "-f", "json").out)

    assert found["path"] == str(cache)
    assert found["folders"] == [
        {"name": "resolutions", "files": 1, "bytes": 5},
        {"name": "traces", "files": 2, "bytes": 10},
        {"name": "compilations", "files": 0, "bytes": 0},
        {"name": "checks", "files": 0, "bytes": 0},
        {"name": "crashes", "files": 0, "bytes": 0},
    ]
    assert "traces        2      10 B" in tpu_audit("cache", "info").out


def test_clean(tpu_audit: CommandLine, cache: Path) -> None:
    """Cleaning deletes ours, spares the stranger's, and a dry run spares all."""
    dry = tpu_audit("cache", "clean", "--dry-run")
    assert dry.out == f"would delete 3 files, 15 B, in {cache}\n"
    assert (cache / "traces" / "two.json").exists()

    assert tpu_audit("cache", "clean").out == f"deleted 3 files, 15 B, in {cache}\n"
    assert [path.name for path in cache.iterdir()] == ["mine.txt"]
    assert tpu_audit("cache", "clean").out == f"deleted 0 files, 0 B, in {cache}\n"


def test_clean_does_not_follow_links(tpu_audit: CommandLine, cache: Path, tmp_path: Path) -> None:
    """A link out of the cache is removed; what it points at is not."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x", encoding="utf-8")
    (cache / "traces" / "link").symlink_to(precious)
    (cache / "crashes").symlink_to(precious)

    assert tpu_audit("cache", "clean").code == 0
    assert (precious / "file").exists()
    assert not (cache / "crashes").exists()


def test_default_folder(tpu_audit: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a setting the command line and the Python API use one folder."""
    asked: list[api.ScanOptions] = []

    def scan(_: object, *, options: api.ScanOptions) -> Report:
        asked.append(options)
        return report()

    monkeypatch.setattr(api, "scan", scan)
    monkeypatch.delenv("TPU_AUDIT_CACHE_DIR")
    tpu_audit("scan", "x")

    assert asked[0].cache_dir == default_cache_dir()
    assert tpu_audit("cache", "dir").out == f"{default_cache_dir()}\n"
