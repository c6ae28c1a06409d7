"""A child process that is there when it is called, however the last call ended."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any, Self

from op_registry.build.bootstrap import command
from op_registry.errors import RegistryError
from op_registry.toolchain.environment import child_environment
from op_registry.toolchain.process import Child, Ended
from op_registry.toolchain.replies import Done, Failed, Loss, Lost, Reply

if TYPE_CHECKING:
    from types import TracebackType

START_SECONDS = 180.0
"""How long a child may take to import its libraries: seconds, minutes on a busy machine."""
GIB = 1 << 30
_KILLED = Lost(how=Loss.CRASHED, detail="the worker was killed")
_INSTALL = 'install what it needs there: {python} -m pip install "tpu-audit[tpu]"'


class Worker:
    """Calls the function that ``module`` serves, in a child process of the interpreter ``python``.

    The child starts with the first call, and a new one after a call that took it down. It is
    replaced after ``calls_before_recycling`` calls, or when after a call it holds more than half of
    ``memory_bytes`` of resident memory: compilers leak. A call during which it passes
    ``memory_bytes`` is lost. One thread may call at a time; ``kill`` may come from any.

    Use as a context manager, or ``close`` it.
    """

    def __init__(
        self,
        module: str,
        python: str,
        *,
        memory_bytes: int = 4 * GIB,
        calls_before_recycling: int = 300,
    ) -> None:
        self.module = module
        self.python = python
        self._memory_bytes = memory_bytes
        self._most_calls = calls_before_recycling
        self._child: Child | None = None
        self._calls = 0
        self._killed = threading.Event()

    def __enter__(self) -> Self:
        """Return the worker itself; nothing is started yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the child."""
        self.close()

    def call(self, request: dict[str, Any], timeout: float) -> Reply:
        """Return the child's reply to ``request``, a JSON object; ``timeout`` is in seconds.

        The time a child takes to start does not count. Raises RegistryError when none starts.
        """
        if self._killed.is_set():
            return _KILLED
        try:
            child = self._child or self._start()
            answer = json.loads(child.ask(json.dumps(request).encode() + b"\n", timeout))
        except Ended as end:
            self.close()
            return _KILLED if self._killed.is_set() else end.lost
        except BaseException:
            self.close()
            raise
        self._recycle(child)
        return Failed(error=answer["failed"]) if "failed" in answer else Done(result=answer["done"])

    def start(self) -> None:
        """Start the child now, if none is up. Raises RegistryError when it does not start."""
        if self._child is None:
            self._start()

    def resident_bytes(self) -> int:
        """Return the child's resident memory; 0 when none is up."""
        return self._child.resident_bytes() if self._child else 0

    def kill(self) -> None:
        """End the worker, from any thread: a call under way, or a later one, comes back as lost."""
        self._killed.set()
        child = self._child
        if child is not None:
            child.kill()

    def close(self) -> None:
        """End the child, if one is up. A later call would start another."""
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def _start(self) -> Child:
        call = command(self.python, self.module)
        child = Child(call, child_environment(), self._memory_bytes)
        self._child, self._calls = child, 0
        if self._killed.is_set():  # after the child began, before it could be seen
            child.kill()
        try:
            answer = json.loads(child.ask(b"", START_SECONDS))
        except Ended as end:
            if self._killed.is_set():
                raise
            answer = {"broken": end.lost.detail}
        except BaseException:
            self.close()
            raise
        if "broken" in answer:
            self.close()
            message = f"{self.module} does not start with {self.python!r}: {answer['broken']}"
            raise RegistryError(message, hint=_INSTALL.format(python=self.python))
        return child

    def _recycle(self, child: Child) -> None:
        self._calls += 1
        if self._calls >= self._most_calls or child.resident_bytes() > self._memory_bytes // 2:
            self.close()
