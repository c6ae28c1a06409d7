"""A worker's replies, and that nothing a child does outlives its call."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from op_registry.errors import RegistryError
from op_registry.toolchain import worker as worker_module
from op_registry.toolchain.replies import Done, Failed, Loss, Lost, Reply
from op_registry.toolchain.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[3]
CHILD = """
import json, os, signal, subprocess, sys, time
sys.path.insert(0, {root!r})
from op_registry.toolchain.serve import serve

def handle(request):
    if "run" in request:
        scope = dict(globals())
        exec(request["run"], scope)
        return {{"value": scope.get("value"), "pid": os.getpid()}}
    return {{"echo": request, "pid": os.getpid()}}

serve(lambda: handle)
"""


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Worker]:
    """Return a worker whose child echoes requests, or runs the Python in them."""
    script = tmp_path / "child.py"
    script.write_text(CHILD.format(root=str(ROOT)), encoding="utf-8")
    monkeypatch.setattr(worker_module, "command", lambda python, _: [python, str(script)])
    with Worker("child", sys.executable, memory_bytes=1 << 30, calls_before_recycling=50) as found:
        yield found


def run(worker: Worker, code: str, timeout: float = 20) -> Reply:
    """Have the child run ``code``."""
    return worker.call({"run": code}, timeout)


def value(reply: Reply) -> Any:
    """Return what the code of ``run`` left in ``value``."""
    assert isinstance(reply, Done), reply
    return reply.result["value"]


def open_files() -> int:
    """Return how many descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def gone(pid: int, within: float = 5) -> bool:
    """Say whether the process ends within so many seconds."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        try:
            state = (
                Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
            )
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_request_comes_back(echo: Worker) -> None:
    """A request reaches the child whole, also one far larger than a pipe holds."""
    request = {"text": "é\n" * 200_000, "none": None}
    reply = echo.call(request, 20)
    assert isinstance(reply, Done)
    assert reply.result["echo"] == request


def test_chatter_stays_off_the_protocol(echo: Worker) -> None:
    """What a library prints to descriptors 1 and 2, or reads from 0, changes no answer."""
    code = """
os.write(1, b'noise {"done": 1}\\n'); os.write(2, b"more\\n"); print("even more", flush=True)
value = os.read(0, 10).decode()
"""
    assert not value(run(echo, code))
    assert not value(run(echo, code))


def test_error_costs_nothing(echo: Worker) -> None:
    """A request that raises is answered with the error's text, and the same child goes on."""
    first = run(echo, "value = 1")
    assert run(echo, "raise ValueError('too\\nbig')") == Failed(error="ValueError: too\nbig")
    second = run(echo, "value = 2")
    assert isinstance(first, Done)
    assert isinstance(second, Done)
    assert first.result["pid"] == second.result["pid"]


def test_abort_costs_one_call(echo: Worker) -> None:
    """A child that aborts is a loss with the signal and what it said last; the next call works."""
    said = b"F0000 00:00:01.5   77 a.cc:3] Check failed: x == y\n*** stack\n"
    lost = run(echo, f"os.write(2, {said!r}); os.abort()")
    assert lost == Lost(how=Loss.CRASHED, detail="SIGABRT: a.cc:3] Check failed: x == y")
    assert value(run(echo, "value = 3")) == 3


def test_exit_is_a_crash(echo: Worker) -> None:
    """A library that ends the process in the middle of a call is a loss, too."""
    lost = run(echo, "os.write(2, b'giving up\\n'); os._exit(3)")
    assert lost == Lost(how=Loss.CRASHED, detail="exit code 3: giving up")


def test_what_was_said_before_is_not_held_against_a_call(echo: Worker) -> None:
    """The detail of a crash comes from that call alone."""
    run(echo, "os.write(2, b'old trouble\\n')")
    assert run(echo, "os._exit(3)") == Lost(how=Loss.CRASHED, detail="exit code 3")


def test_hang_is_stopped_with_its_children(echo: Worker) -> None:
    """A call past its time is lost, and the processes that the child started end as well."""
    started = value(run(echo, "value = subprocess.Popen(['sleep', '60']).pid"))
    lost = run(echo, "time.sleep(60)", timeout=0.3)
    assert lost == Lost(how=Loss.TIMED_OUT, detail="no answer within 0.3 s")
    assert gone(started)
    assert value(run(echo, "value = 4")) == 4


def test_crash_takes_the_session_along(echo: Worker) -> None:
    """What a child started does not survive the child's own crash."""
    started = value(run(echo, "value = subprocess.Popen(['sleep', '60']).pid"))
    assert isinstance(run(echo, "os.abort()"), Lost)
    assert gone(started)


def test_greedy_call_is_stopped(echo: Worker) -> None:
    """A call that passes the memory limit is lost as out of memory."""
    lost = run(echo, "hold = b'x' * (1200 << 20); time.sleep(30)")
    assert isinstance(lost, Lost)
    assert lost.how is Loss.OUT_OF_MEMORY
    assert "1024 MiB are allowed" in lost.detail


def test_kill_from_outside_is_named_memory(echo: Worker) -> None:
    """SIGKILL that we did not send is what the system does to a process when memory runs out."""
    lost = run(echo, "os.kill(os.getpid(), signal.SIGKILL)")
    assert isinstance(lost, Lost)
    assert lost.how is Loss.OUT_OF_MEMORY


def test_recycled_after_so_many_calls(echo: Worker) -> None:
    """The child is replaced after the calls it may answer, and not before."""
    pids = [run(echo, "value = 0") for _ in range(51)]
    seen = [reply.result["pid"] for reply in pids if isinstance(reply, Done)]
    assert len(set(seen[:50])) == 1
    assert seen[50] != seen[0]


def test_recycled_when_it_leaks(echo: Worker) -> None:
    """A child that holds more than half of its memory after a call is replaced."""
    first = run(echo, "import builtins; builtins.leak = b'x' * (600 << 20)")
    second = run(echo, "value = 0")
    assert isinstance(first, Done)
    assert isinstance(second, Done)
    assert first.result["pid"] != second.result["pid"]


def test_nothing_is_left_open(echo: Worker) -> None:
    """Neither threads nor descriptors nor processes pile up over crashes, and close ends all."""
    threads, files = threading.active_count(), open_files()
    for _ in range(3):
        run(echo, "os.abort()")
    reply = run(echo, "value = 0")
    assert isinstance(reply, Done)
    echo.close()
    assert threading.active_count() == threads
    assert open_files() == files
    assert gone(reply.result["pid"])


def test_kill_from_another_thread(echo: Worker) -> None:
    """A call under way comes back when another thread kills the child."""
    echo.start()
    threading.Timer(0.3, echo.kill).start()
    began = time.monotonic()
    assert isinstance(run(echo, "time.sleep(60)", timeout=60), Lost)
    assert time.monotonic() - began < 10


def test_child_ends_with_its_parent(tmp_path: Path) -> None:
    """A parent that is killed takes along a child that is busy and never looks at its pipe."""
    child, parent = tmp_path / "child.py", tmp_path / "parent.py"
    child.write_text(CHILD.format(root=str(ROOT)), encoding="utf-8")
    parent.write_text(
        f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from op_registry.toolchain import worker
worker.command = lambda python, _: [python, {str(child)!r}]
w = worker.Worker("child", sys.executable)
print(w.call({{}}, 20).result["pid"], flush=True)
w.call({{"run": "while True: pass"}}, 60)
""",
        encoding="utf-8",
    )
    with subprocess.Popen([sys.executable, str(parent)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        time.sleep(0.2)
        assert not gone(pid, within=0.1)
        process.kill()
    assert gone(pid)


def test_child_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter without what the child needs is an error that says how to install it."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); "
    code += "from op_registry.toolchain.serve import serve; del sys.argv[1]; "
    code += "serve(lambda: __import__('no_such_library'))"
    monkeypatch.setattr(worker_module, "command", lambda python, _: [python, "-c", code, str(ROOT)])
    with Worker("child", sys.executable) as worker, pytest.raises(RegistryError) as caught:
        worker.call({}, 5)
    assert "No module named 'no_such_library'" in caught.value.message
    assert f"{sys.executable} -m pip install" in str(caught.value.hint)


def test_no_such_interpreter() -> None:
    """A path that is no program is an error, and leaves nothing open."""
    files = open_files()
    with (
        Worker("child", "/nowhere/python") as worker,
        pytest.raises(RegistryError, match="nowhere"),
    ):
        worker.call({}, 5)
    assert open_files() == files


def test_interrupt_ends_the_child(echo: Worker) -> None:
    """Ctrl-C during a call reaches the caller, and the child is gone."""
    reply = run(echo, "value = 0")
    assert isinstance(reply, Done)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        run(echo, "time.sleep(60)", timeout=60)
    assert gone(reply.result["pid"])


def test_killed_worker_starts_no_more(echo: Worker) -> None:
    """A call after the kill is lost as well, and starts no child."""
    echo.kill()
    lost = Lost(how=Loss.CRASHED, detail="the worker was killed")
    assert run(echo, "value = 1") == lost
    assert echo.resident_bytes() == 0


def test_greedy_fork_is_stopped(echo: Worker) -> None:
    """A process that the child forked and waits for counts as well."""
    code = "p = os.fork() or (b'x' * (1200 << 20), time.sleep(30)); os.wait()"
    lost = run(echo, code)
    assert isinstance(lost, Lost)
    assert lost.how is Loss.OUT_OF_MEMORY
