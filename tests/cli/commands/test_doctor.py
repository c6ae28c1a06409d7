"""The doctor: each probe, and the sum of them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest

from tests.support.command_line import ROOT, CommandLine
from tpu_audit.cli.probes import device, install
from tpu_audit.cli.probes.check import Health
from tpu_audit.cli.probes.device import check_device
from tpu_audit.cli.probes.hub import check_hub
from tpu_audit.cli.probes.install import EXTRAS, check_extras
from tpu_audit.cli.probes.registry import check_registry
from tpu_audit.cli.probes.storage import check_cache

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(name="hub")
def _hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve a hub that knows nothing, on this machine."""

    class Handler(BaseHTTPRequestHandler):
        """Answer 404 and be quiet about it."""

        def do_HEAD(self) -> None:
            """Answer."""
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    yield endpoint
    server.shutdown()
    server.server_close()


def test_hub_answers(hub: str) -> None:
    """Any answer, even 404, means that the hub is there."""
    check = check_hub()

    assert check.health is Health.OK
    assert hub in check.detail


def test_hub_is_silent(hub: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer is a warning that says what works without the hub."""
    port = int(hub.rpartition(":")[2])
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}0000")
    check = check_hub()

    assert check.health is Health.WARNING
    assert "not reachable" in check.detail
    assert "--offline" in (check.hint or "")


@pytest.mark.usefixtures("hub")
def test_hub_odd_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint that is no URL is said, never opened; the offline switch is respected."""
    monkeypatch.setenv("HF_ENDPOINT", "file:///etc/passwd")
    assert "must begin with http" in check_hub().detail

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "HF_HUB_OFFLINE is set" in check_hub().detail


def test_extras_are_those_of_the_package() -> None:
    """The extras that are checked are the ones that the package declares."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {
        extra: {requirement.split(";")[0].strip() for requirement in wanted}
        for extra, wanted in project["optional-dependencies"].items()
        if extra != "dev"
    }
    names = {
        extra: sorted(
            item.split("[")[0].rstrip("<>=!~.,0123456789 ")
            for item in wanted
            if not item.startswith("tpu-audit[")
        )
        for extra, wanted in declared.items()
    }

    assert {extra: sorted(found) for extra, found in EXTRAS.items()} == names


def test_missing_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the scan extra nothing can be scanned; the others are a choice."""
    monkeypatch.setattr(install, "_version", lambda _: None)
    scan, *libraries, tpu = check_extras()

    assert (scan.health, scan.hint) == (Health.BROKEN, 'pip install "tpu-audit[scan]"')
    assert (tpu.health, tpu.hint) == (Health.INFO, 'pip install "tpu-audit[tpu]"')
    assert {check.health for check in libraries} == {Health.INFO}


def test_device_works_here() -> None:
    """The self-test passes with the torch that is installed."""
    assert {check.health for check in check_device()} == {Health.OK}


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ('print(\'{"checks": [{"name": "n", "ok": false, "error": "e"}]}\')', "n: e"),
        ("import sys; sys.exit('no torch')", "failed with exit code 1: no torch"),
        ("import time; time.sleep(9)", "did not end: "),
    ],
)
def test_device_does_not_work(monkeypatch: pytest.MonkeyPatch, answer: str, says: str) -> None:
    """A failed check, a crash and a hang of the self-test each come out as broken."""
    run = subprocess.run

    def child(_: object, **kw: object) -> object:
        return run([sys.executable, "-c", answer], **{**kw, "timeout": 2})  # type: ignore[call-overload]  # plain pass-through

    monkeypatch.setattr(subprocess, "run", child)
    (check,) = check_device()

    assert check.health is Health.BROKEN
    assert says in check.detail


def test_cache_that_cannot_be_written(tmp_path: Path) -> None:
    """A cache folder below a file is a warning: scanning works without a cache."""
    (tmp_path / "file").write_text("", encoding="utf-8")

    assert check_cache(tmp_path / "new").health is Health.OK
    assert check_cache(tmp_path / "file" / "x").health is Health.WARNING


def test_registry() -> None:
    """The registry in force is named with its digest; a missing one is broken."""
    check = check_registry("0.2.0+torch2.13")

    assert check.health in {Health.OK, Health.WARNING}
    assert "torch-tpu 0.2.0 for torch 2.13.0" in check.detail
    assert check_registry("0.0.1").health is Health.BROKEN


@pytest.mark.usefixtures("hub")
def test_doctor(tpu_audit: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it together, for people and machines; 2 when scan cannot work."""
    monkeypatch.setattr(device, "check_device", list)
    ran = tpu_audit("doctor", "-f", "json")
    found = json.loads(ran.out)

    assert found["versions"]["tpu-audit"] == "0.1.0"
    assert {"torch", "transformers", "torch-tpu", "libtpu", "jax"} <= set(found["versions"])
    assert {"extra scan", "hub", "cache", "registry"} <= {c["name"] for c in found["checks"]}
    assert ran.code == (0 if found["healthy"] else 2)

    broken = tpu_audit("doctor", "--registry", "0.0.1")
    assert broken.code == 2
    assert ["broken", "registry"] in [line.split()[:2] for line in broken.out.splitlines()]
    assert "hint: registry: packaged snapshots:" in broken.err
