"""The doctor's look at the toolchain."""

from __future__ import annotations

import sys

import pytest

from op_registry.toolchain import selftest
from tests.support.wheel import PYTHON, needs_wheel
from tpu_audit.cli.probes import toolchain
from tpu_audit.cli.probes.check import Health
from tpu_audit.cli.probes.toolchain import check_toolchain

GOOD = {
    "torch": "2.13.0",
    "torch-tpu": "0.2.0",
    "libtpu": "0.0.52",
    "jax": "0.10.2",
    "jaxlib": "0.10.2",
}


@pytest.fixture(name="installed")
def _installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, str | None]:
    """Return the versions that the probe finds; both trials succeed until told otherwise."""
    found: dict[str, str | None] = dict(GOOD)
    monkeypatch.setattr(toolchain, "read", lambda _: found)
    monkeypatch.setattr(selftest, "compile_problem", lambda _: None)
    monkeypatch.setattr(selftest, "run_problem", lambda _: None)
    return found


@pytest.mark.usefixtures("installed")
def test_all_is_well() -> None:
    """Tested versions and two successful trials are two checks, both in order."""
    found = [(check.health, check.detail) for check in check_toolchain()]
    assert found == [
        (Health.OK, "a program compiles for v6e"),
        (Health.OK, "a program runs on XLA:CPU"),
    ]


def test_absence_is_no_fault(installed: dict[str, str | None]) -> None:
    """Without the extra nothing is tried, and it is said what it would be for."""
    installed.update(dict.fromkeys(("jax", "jaxlib", "libtpu")))
    (check,) = check_toolchain()
    assert check.health is Health.INFO
    assert "registry verify" in check.detail
    assert check.hint == 'pip install "tpu-audit[tpu]"'


def test_versions_that_do_not_fit(
    installed: dict[str, str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known not to work is named and not tried."""
    installed["jaxlib"] = "0.10.1"
    monkeypatch.setattr(selftest, "compile_problem", lambda _: pytest.fail("tried"))
    checks = check_toolchain()
    assert {check.health for check in checks} == {Health.WARNING}
    assert "jax 0.10.2 and jaxlib 0.10.1 are of different releases" in checks[0].detail


def test_untested_versions_are_tried(installed: dict[str, str | None]) -> None:
    """A version that was not tested is a warning beside the trials' results."""
    installed["libtpu"] = "0.0.60"
    found = [check.health for check in check_toolchain()]
    assert found == [Health.WARNING, Health.OK, Health.OK]


@pytest.mark.usefixtures("installed")
def test_compiler_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler's own words stand in the warning."""
    monkeypatch.setattr(selftest, "compile_problem", lambda _: "ABORTED: no library")
    warning, fine = check_toolchain()
    assert (warning.health, fine.health) == (Health.WARNING, Health.OK)
    assert warning.detail == "no program compiles for v6e: ABORTED: no library"


@needs_wheel
def test_real_toolchain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the extra is installed, versions fit, and a program really compiles and runs."""
    monkeypatch.setattr(sys, "executable", PYTHON)
    assert {check.health for check in check_toolchain()} == {Health.OK}
