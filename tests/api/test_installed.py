"""Which versions trace, asked without importing them."""

from __future__ import annotations

import sys
from importlib import metadata
from typing import TYPE_CHECKING

import pytest

from tpu_audit.api.installed import LIBRARIES, tracing_versions, versions_for
from tpu_audit.types.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def _without(monkeypatch: pytest.MonkeyPatch, *absent: str) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name in absent:
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)


def test_versions_here() -> None:
    """Torch, transformers and what there is of the optional libraries in this environment."""
    found = tracing_versions("pretended", None)
    assert {"torch", "transformers"} <= found.keys() <= {"torch", "transformers", *LIBRARIES}
    assert found == {name: metadata.version(name) for name in found}


def test_versions_that_a_model_depends_on() -> None:
    """A new diffusers makes old traces of diffusers stale, and of nothing else."""
    versions = {"torch": "1", "transformers": "2", "diffusers": "3", "peft": "4"}
    assert versions_for("transformers", versions).keys() == {"torch", "transformers"}
    assert versions_for("diffusers", versions).keys() == {"torch", "transformers", "diffusers"}


def test_a_missing_extra_names_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without torch the error says what to install."""
    _without(monkeypatch, "torch")
    with pytest.raises(MissingExtraError, match="torch") as caught:
        tracing_versions("pretended", None)
    assert caught.value.hint == 'pip install "tpu-audit[scan]"'


def test_the_second_tracer_needs_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without torch-tpu here and no interpreter named, the error says what to install."""
    _without(monkeypatch, "torch-tpu")
    with pytest.raises(MissingExtraError, match="torch-tpu") as caught:
        tracing_versions("torch_tpu", None)
    assert caught.value.hint == 'pip install "tpu-audit[scan,tpu]"'


def test_another_interpreter_is_asked(tmp_path: Path) -> None:
    """The versions are those of the interpreter named, not of this one."""
    python = tmp_path / "python"
    answer = '{"torch": "9.1", "transformers": "9.2", "torch-tpu": "9.3"}'
    python.write_text(f"#!/bin/sh\necho '{answer}'\n")
    python.chmod(0o755)
    found = tracing_versions("torch_tpu", str(python))
    assert found == {"torch": "9.1", "transformers": "9.2", "torch-tpu": "9.3"}


def test_another_environment_for_the_pretended_device(tmp_path: Path) -> None:
    """It needs torch; what it traces besides programs needs transformers, and says so then."""
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho \'{"python": "3.12", "torch": "9.1"}\'\n')
    python.chmod(0o755)
    assert tracing_versions("pretended", None, str(python)) == {"python": "3.12", "torch": "9.1"}


def test_another_environment_without_torch(tmp_path: Path) -> None:
    """An interpreter without torch is named, with the way to install it."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho '{}'\n")
    python.chmod(0o755)
    with pytest.raises(UsageError, match="no torch") as caught:
        tracing_versions("pretended", None, str(python))
    assert caught.value.hint == f"{python} -m pip install torch"


def test_an_interpreter_without_the_wheel(tmp_path: Path) -> None:
    """An interpreter that lacks torch-tpu is named, with the way to install it."""
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho \'{"torch": "9.1", "transformers": "9.2"}\'\n')
    python.chmod(0o755)
    with pytest.raises(UsageError, match="no torch-tpu") as caught:
        tracing_versions("torch_tpu", str(python))
    assert caught.value.hint == f"{python} -m pip install torch-tpu"


@pytest.mark.parametrize("name", ["/nonexistent/python", "/bin/true"])
def test_what_is_no_interpreter(name: str) -> None:
    """A path that is no Python is a usage error, not a crash."""
    with pytest.raises(UsageError, match="cannot ask"):
        tracing_versions("torch_tpu", name)


def test_this_interpreter_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Naming the running interpreter starts no process."""
    _without(monkeypatch, "torch-tpu")
    with pytest.raises(MissingExtraError):
        tracing_versions("torch_tpu", sys.executable)
