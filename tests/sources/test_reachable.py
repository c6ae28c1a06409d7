"""The probe before the hub client."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

from tpu_audit.sources.reachable import why_unreachable

if TYPE_CHECKING:
    import pytest

    from tests.support.fakehub import FakeHub


def test_reachable(hub: FakeHub) -> None:
    """A listening port is reachable, by number and by name with a dead address beside it."""
    assert why_unreachable(hub.url) is None
    assert why_unreachable(hub.url.replace("127.0.0.1", "localhost")) is None


def test_closed_port(hub: FakeHub) -> None:
    """A refused connection is known at once."""
    hub.stop()
    begun = time.monotonic()
    assert why_unreachable(hub.url) == "Connection refused"
    assert time.monotonic() - begun < 0.5


def test_unknown_host() -> None:
    """A name without address is named."""
    assert "nowhere.invalid has no address" in (why_unreachable("https://nowhere.invalid") or "")


def test_look_up_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolver that does not answer costs the limit and no more."""

    def hang(*_args: object, **_kwargs: object) -> list[object]:
        time.sleep(2)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    begun = time.monotonic()
    reason = why_unreachable("https://example.org", timeout_s=0.2)
    assert reason == "looking up example.org took more than 0.2 s"
    assert time.monotonic() - begun < 1


def test_packets_that_vanish() -> None:
    """A port whose queue is full drops the handshake: the limit holds."""
    with socket.socket() as server, socket.socket() as first, socket.socket() as second:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        first.connect(server.getsockname())
        second.settimeout(0)
        second.connect_ex(server.getsockname())
        begun = time.monotonic()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        assert why_unreachable(url, timeout_s=0.3) == "no connection in time"
        assert time.monotonic() - begun < 1


def test_dead_route_does_not_hide_a_living_one(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Addresses are tried together, so the order in which they come does not matter."""
    port = int(hub.url.rsplit(":", 1)[1])
    dead = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 1))
    live = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_a, **_k: [dead, dead, live])
    assert why_unreachable("https://example.org") is None


def test_proxy_is_left_to_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a proxy the hub cannot be probed from here; the client is let try."""
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    assert why_unreachable("https://nowhere.invalid") is None
