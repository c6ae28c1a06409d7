"""Fixtures of the resolving tests: real configs, a hub on loopback, a clean environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.hub_fixtures import clean_environment, hub
from tpu_audit.sources.resolve import ResolveOptions, resolve
from tpu_audit.types.errors import NotAuditedError, TpuAuditError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.configs import Options, Refused

__all__ = ["clean_environment", "hub", "options", "refused"]


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
