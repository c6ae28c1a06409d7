"""Fixtures of the resolving tests: real configs, a hub on loopback, a clean environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from huggingface_hub import constants

from tests.support.fakehub import FakeHub
from tpu_audit.sources.resolve import ResolveOptions, resolve
from tpu_audit.types.errors import NotAuditedError, TpuAuditError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.configs import Options, Refused


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep tests off the user's hub cache, token and proxies."""
    names = ("HF_TOKEN", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_ENDPOINT")
    for name in (*names, "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hf" / "hub"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "hf" / "token"))


@pytest.fixture
def options(tmp_path: Path) -> Options:
    """Make ResolveOptions over one cache folder."""

    def make(**changes: object) -> ResolveOptions:
        return ResolveOptions(cache_dir=tmp_path / "cache", **changes)  # type: ignore[arg-type]

    return make


@pytest.fixture
def refused(options: Options) -> Refused:
    """Resolve a target that must fail, and give the error after checks that hold for all."""

    def run(target: str, **changes: object) -> TpuAuditError:
        with pytest.raises(TpuAuditError) as caught:
            resolve(target, options(**changes))
        error = caught.value
        assert "Traceback" not in error.message
        assert "\n" not in error.message
        assert error.hint or isinstance(error, NotAuditedError)
        return error

    return run


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """Serve an empty hub and point the endpoint at it."""
    with FakeHub(tmp_path / "served") as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server
