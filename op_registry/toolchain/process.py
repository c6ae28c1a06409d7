"""One child process that answers requests: its pipes, its memory, its end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from op_registry.errors import RegistryError
from op_registry.toolchain.last_words import last_words
from op_registry.toolchain.replies import Loss, Lost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TICK_SECONDS = 0.1
"""How often memory is looked at."""
_GRACE_SECONDS = 5.0
"""How long a process that closed its pipe may take to end by itself."""


class Ended(Exception):  # noqa: N818 - an event of the process, not an error of the caller
    """The process is gone, or had to go, before it answered."""

    def __init__(self, how: Loss, detail: str) -> None:
        super().__init__(detail)
        self.lost = Lost(how=how, detail=detail)


class Child:
    """A process started from a command line that gets the number of a lifeline as last argument.

    The process leads a session of its own and ends with its parent. ``memory_bytes`` bounds its
    resident memory. Raises RegistryError when it cannot be started.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], memory_bytes: int
    ) -> None:
        self._memory_bytes = memory_bytes
        # To a file: a pipe would need a thread that empties it.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
        _append(self._stderr.fileno())
        theirs, self._lifeline = os.pipe()
        try:
            self._process = subprocess.Popen(
                [*command, str(theirs)],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                pass_fds=(theirs,),
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            self._stderr.close()
            os.close(self._lifeline)
            raise RegistryError(f"{command[0]!r} cannot be started: {error}") from error
        finally:
            os.close(theirs)
        assert self._process.stdin is not None  # noqa: S101 - they are pipes
        assert self._process.stdout is not None  # noqa: S101
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        os.set_blocking(self._stdin.fileno(), False)

    def ask(self, request: bytes, timeout: float) -> bytes:
        """Send ``request`` and return the line that answers it; empty: only wait for a line.

        ``timeout`` is in seconds. Raises Ended; the process is gone then.
        """
        if request:
            os.ftruncate(self._stderr.fileno(), 0)  # what is there is of earlier requests
        deadline, answer = time.monotonic() + timeout, bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            if request:
                selector.register(self._stdin, selectors.EVENT_WRITE)
            while not answer.endswith(b"\n"):
                for key, _ in selector.select(_TICK_SECONDS):
                    if key.fileobj is self._stdout:
                        answer += self._read()
                    elif not (request := self._write(request)):
                        selector.unregister(self._stdin)
                self._check(deadline, timeout)
        return bytes(answer)

    def resident_bytes(self) -> int:
        """Return the resident memory of the process; 0 when it is gone."""
        return _resident(self._process.pid)

    def kill(self) -> None:
        """End the process and all of its session. Safe to call twice and from another thread."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._process.returncode is None:  # else the number may be another's by now
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process if it runs, and free what the parent holds of it."""
        self.kill()
        self._process.wait()
        for stream in (self._stdin, self._stdout, self._stderr):
            with contextlib.suppress(OSError):
                stream.close()
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def _read(self) -> bytes:
        chunk = os.read(self._stdout.fileno(), 1 << 16)
        if not chunk:
            raise self._ended()
        return chunk

    def _write(self, request: bytes) -> bytes:
        try:
            return request[os.write(self._stdin.fileno(), request) :]
        except BrokenPipeError:
            raise self._ended() from None

    def _check(self, deadline: float, timeout: float) -> None:
        if time.monotonic() > deadline:
            self.close()
            raise Ended(Loss.TIMED_OUT, f"no answer within {timeout:g} s")
        # Forks share most of their pages: their sum would count those twice.
        used = max(_resident(pid) for pid in (self._process.pid, *_children(self._process.pid)))
        if used > self._memory_bytes:
            self.close()
            limit = self._memory_bytes >> 20
            raise Ended(Loss.OUT_OF_MEMORY, f"{used >> 20} MiB in use; {limit} MiB are allowed")

    def _ended(self) -> Ended:
        self._await_end()
        self.kill()
        code, said = self._process.wait(), self._last_words()
        self.close()
        if code == -signal.SIGKILL:
            return Ended(Loss.OUT_OF_MEMORY, "killed from outside, as the system does for memory")
        end = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return Ended(Loss.CRASHED, f"{end}: {said}" if said else end)

    def _await_end(self) -> None:
        """Give the process time to end; do not reap it yet, its number names its session."""
        options = os.WEXITED | os.WNOWAIT | os.WNOHANG
        deadline = time.monotonic() + _GRACE_SECONDS
        while os.waitid(os.P_PID, self._process.pid, options) is None:
            if time.monotonic() > deadline:
                return
            time.sleep(_TICK_SECONDS / 10)

    def _last_words(self) -> str:
        size = os.fstat(self._stderr.fileno()).st_size
        tail = os.pread(self._stderr.fileno(), 1 << 16, max(0, size - (1 << 16)))
        return last_words(tail.decode(errors="replace"))


def _resident(pid: int) -> int:
    """Return the resident bytes of a process; 0 when it is gone."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_bytes().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _children(pid: int) -> list[int]:
    """Return the children of a process's main thread; none where the kernel does not tell."""
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_bytes().split()]
    except OSError:
        return []


def _append(descriptor: int) -> None:
    """Make writes go to the end of the file, also after it was emptied."""
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_APPEND)
