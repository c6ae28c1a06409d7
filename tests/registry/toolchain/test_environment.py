"""The environment of the children."""

from __future__ import annotations

from typing import TYPE_CHECKING

from op_registry.toolchain.environment import child_environment

if TYPE_CHECKING:
    import pytest


def test_own_settings_win(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's settings for XLA, JAX and libtpu do not change what is measured."""
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=x")
    monkeypatch.setenv("JAX_ENABLE_X64", "0")
    monkeypatch.setenv("LIBTPU_INIT_ARGS", "--xla_tpu_something")
    monkeypatch.setenv("JAX_PLATFORMS", "tpu")
    found = child_environment()
    assert found["XLA_FLAGS"] == "--xla_cpu_enable_fast_math=false"
    assert found["JAX_PLATFORMS"] == "cpu"
    assert "JAX_ENABLE_X64" not in found
    assert "LIBTPU_INIT_ARGS" not in found


def test_installations_are_not_mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module path of this process does not reach another interpreter; the rest does."""
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "1")
    monkeypatch.setenv("SOMETHING_ELSE", "kept")
    found = child_environment()
    assert "PYTHONPATH" not in found
    assert "TORCH_DEVICE_BACKEND_AUTOLOAD" not in found
    assert found["SOMETHING_ELSE"] == "kept"
