"""Which sets of versions are said to work together."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from op_registry.errors import RegistryError
from op_registry.toolchain.versions import LIBTPU_FLOOR, TESTED, problems, read

ROOT = Path(__file__).resolve().parents[3]
GOOD: dict[str, str | None] = {
    "torch": "2.13.0+cpu",
    "torch-tpu": "0.2.0",
    "libtpu": "0.0.52",
    "jax": "0.10.2",
    "jaxlib": "0.10.2",
}


def found(**changed: str | None) -> list[tuple[bool, str]]:
    """Return (fatal, text) of the problems of the good set with some versions changed."""
    versions = GOOD | {name.replace("_", "-"): version for name, version in changed.items()}
    return [(problem.fatal, problem.text) for problem in problems(versions, "python")]


def test_tested_versions_have_no_problem() -> None:
    """Neither the tested set nor torch 2.14, nor an absent torch, raises a doubt."""
    assert found() == []
    assert found(torch="2.14.1") == []
    assert found(torch=None, torch_tpu=None) == []


@pytest.mark.parametrize("name", ["jax", "jaxlib", "libtpu"])
def test_missing_library_is_fatal(name: str) -> None:
    """Without any one of the three nothing compiles."""
    assert (True, f"{name} is not installed") in found(**{name: None})


def test_mixed_releases_are_fatal() -> None:
    """Jax refuses a jaxlib of another release."""
    assert found(jaxlib="0.10.1")[0] == (
        True,
        "jax 0.10.2 and jaxlib 0.10.1 are of different releases",
    )


def test_old_libtpu_is_fatal() -> None:
    """Below the wheel's floor is known not to do; numbers are compared, not texts."""
    assert found(libtpu="0.0.42.1")[0][0]
    assert found(libtpu="0.0.9")[0][0]
    assert [fatal for fatal, _ in found(libtpu="0.0.50")] == [False]


def test_untested_is_a_doubt() -> None:
    """Another version is named with those that were tested, and how to get them."""
    (problem,) = problems(GOOD | {"torch": "2.15.0"}, "/venv/bin/python")
    assert not problem.fatal
    assert problem.text == "torch 2.15.0 was not tested; 2.13 and 2.14 were"
    assert "/venv/bin/python -m pip install" in problem.hint


def test_prefix_is_by_number() -> None:
    """Version 2.130 is not a 2.13."""
    assert found(torch="2.130.0")


def test_read_names_what_is_installed() -> None:
    """The versions of this interpreter, or None, for every distribution that matters."""
    versions = read(sys.executable)
    assert versions.keys() == TESTED.keys()
    assert re.match(r"2\.\d+", versions["torch"] or "")


def test_read_of_no_interpreter() -> None:
    """A path that is no interpreter is an error."""
    with pytest.raises(RegistryError, match="'/nowhere/python' does not run"):
        read("/nowhere/python")


def project() -> Any:
    """Return pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_extra_pins_what_was_tested() -> None:
    """The extra ``tpu`` installs the tested versions, and so does constraints.txt."""
    extra = set(project()["project"]["optional-dependencies"]["tpu"])
    constraints = set((ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines())
    pins = {f"{name}=={TESTED[name][0]}" for name in ("jax", "jaxlib", "libtpu", "torch-tpu")}
    assert pins <= extra
    assert pins <= constraints
    assert f"torch=={TESTED['torch'][0]}.0" in constraints


def test_pinned_libtpu_is_above_the_floor() -> None:
    """What is tested satisfies what is asked for."""
    assert TESTED["libtpu"][0].split(".") >= LIBTPU_FLOOR.split(".")
