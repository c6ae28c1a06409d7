"""Is the hub there? Asked before huggingface_hub is imported, because the answer costs little.

A client's connect timeout does not bound a name look-up, and counts once per address, so a
machine behind a closed firewall would wait for tens of seconds before it may use its cache.
"""

from __future__ import annotations

import os
import selectors
import socket
import threading
import time
from contextlib import ExitStack
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urlsplit

PROBE_TIMEOUT_S = 3.0
_PORTS = {"http": 80, "https": 443}
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
_Addresses = list[tuple[socket.AddressFamily, tuple[Any, ...]]]


def why_unreachable(endpoint: str, *, timeout_s: float = PROBE_TIMEOUT_S) -> str | None:
    """None if some address of the endpoint accepts a connection within ``timeout_s`` seconds.

    Otherwise the reason, as a clause. Behind a proxy nothing can be said from here: None.
    """
    if any(os.environ.get(name) or os.environ.get(name.upper()) for name in _PROXIES):
        return None
    parts = urlsplit(endpoint)
    if not parts.hostname or parts.scheme not in _PORTS:
        return f"HF_ENDPOINT is not a URL: {endpoint!r}"
    deadline = time.monotonic() + timeout_s
    found = _look_up(parts.hostname, parts.port or _PORTS[parts.scheme], timeout_s)
    return found if isinstance(found, str) else _connect_to_any(found, deadline)


def _look_up(host: str, port: int, timeout_s: float) -> _Addresses | str:
    """Addresses of a host, or why there are none. The thread is left behind if it hangs."""
    answer: SimpleQueue[_Addresses | str] = SimpleQueue()

    def ask() -> None:
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answer.put([(family, address) for family, _, _, _, address in rows])
        except OSError as error:
            answer.put(f"{host} has no address ({error.strerror})")

    threading.Thread(target=ask, daemon=True, name="look-up").start()
    try:
        return answer.get(timeout=timeout_s)
    except Empty:
        return f"looking up {host} took more than {timeout_s:g} s"


def _connect_to_any(addresses: _Addresses, deadline: float) -> str | None:
    """Try all addresses at once: one dead route must not hide a living one."""
    reason = "no connection in time"
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for family, address in addresses:
            try:
                connection = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
            except OSError as error:  # a family this machine does not have
                reason = str(error.strerror)
                continue
            connection.settimeout(0)
            connection.connect_ex(address)
            selector.register(connection, selectors.EVENT_WRITE, data=connection)
        while selector.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                code = key.data.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if code == 0:
                    return None
                reason = os.strerror(code)
                selector.unregister(key.fileobj)
    return reason
