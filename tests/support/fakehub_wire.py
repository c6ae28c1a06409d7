"""The wire of the fake hub: requests, answers, faults, and the HTTP handler between them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from tests.support.fakehub import FakeHub


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One request as it arrived."""

    method: str
    path: str
    token: str
    """Bearer token, empty if there is none."""
    range: str | None
    """Range header."""


@dataclass(kw_only=True, slots=True)
class Fault:
    """What happens to the next ``times`` requests whose path contains ``match``."""

    match: str
    times: int = 1
    method: str | None = None
    status: int | None = None
    """Answer with this instead."""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    """Wait before answering."""
    cut: bool = False
    """Promise the whole body, send half of it and hang up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A response to be sent."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def refusal(status: int, code: str, headers: Mapping[str, str] | None = None) -> Answer:
    """Refuse as the hub does: a status and its own error code."""
    body = json.dumps({"error": code}).encode()
    return Answer(status=status, body=body, headers={"X-Error-Code": code, **(headers or {})})


def handler_of(hub: FakeHub) -> type[BaseHTTPRequestHandler]:
    """Make the handler class of a hub: log, apply a fault, answer."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._serve()

        def do_HEAD(self) -> None:
            self._serve()

        def _serve(self) -> None:
            request = Request(
                method=self.command,
                path=urlsplit(self.path).path,
                token=(self.headers["Authorization"] or "").removeprefix("Bearer "),
                range=self.headers["Range"],
            )
            hub.requests.append(request)
            fault = _next_fault(hub.faults, request)
            time.sleep(fault.delay_s if fault else 0)
            if fault and fault.status:
                self._send(Answer(status=fault.status, headers=fault.headers))
            else:
                self._send(hub.answer(request), cut=bool(fault and fault.cut))

        def _send(self, answer: Answer, *, cut: bool = False) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(answer.body[: len(answer.body) // 2] if cut else answer.body)
            self.close_connection = self.close_connection or cut

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
            """Keep quiet: ``requests`` holds the log."""

    return Handler


class Server(ThreadingHTTPServer):
    """One thread a connection. A client that hangs up is what some tests are about."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent on a broken connection, report anything else."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _next_fault(faults: list[Fault], request: Request) -> Fault | None:
    for fault in faults:
        meant = fault.match in request.path and fault.method in {None, request.method}
        if meant and fault.times > 0:
            fault.times -= 1
            return fault
    return None
