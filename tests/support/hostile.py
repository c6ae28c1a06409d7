"""What hostile code tries; each attempt gives something only where it gets what it is after.

Run as a script it confines itself first and prints what succeeded. Imported by a repository's code
it is read from the same file. Standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "hf_do_not_tell"  # noqa: S105 - a made-up one, looked for


def attempts(port: int, home: str) -> dict[str, Callable[[], Any]]:
    """Return name -> attempt. ``port`` listens on this host; ``home`` is the user's real one."""
    libc = ctypes.CDLL(None, use_errno=True)
    return {
        "connect": lambda: socket.create_connection(("127.0.0.1", port), 2),
        "unix socket": lambda: socket.socket(socket.AF_UNIX),
        "environment": lambda: SECRET in str(dict(os.environ)),
        "environment of any process": lambda: any(map(_tells, Path("/proc").glob("*/environ"))),
        "read home": lambda: Path(home, "token").read_text(encoding="utf-8"),
        "write home": lambda: _write(Path(home, "written")),
        "write library": lambda: _write(Path(os.__file__).with_name("written.py")),
        "write system": lambda: _write(Path("/proc/sys/kernel/hostname")),
        "start a program": lambda: subprocess.run([sys.executable, "-c", ""], check=True),
        "fork": _fork,
        "see other processes": lambda: list(Path("/proc").glob("[0-9]*"))[1:],
        "signal the parent": _signal_parent,
        "unmount": lambda: libc.umount2(b"/proc", 2) == 0,
        "new namespaces": lambda: libc.unshare(0x10000000) == 0,
        "large file": lambda: _write(Path("large"), 2**30),
        "scratch file": lambda: _write(Path.home() / "small"),
        "thread": _thread,
    }


ALLOWED = {"scratch file", "thread"}
"""What even confined code may do."""


def succeeded(port: int, home: str) -> list[str]:
    """Try everything, and return what worked."""
    return [name for name, attempt in attempts(port, home).items() if _works(attempt)]


def _works(attempt: Callable[[], Any]) -> bool:
    try:
        return bool(attempt())
    except Exception:  # noqa: BLE001 - a refusal of any kind
        return False


def _tells(path: Path) -> bool:
    try:
        return SECRET.encode() in path.read_bytes()
    except OSError:
        return False


def _write(path: Path, size: int = 1) -> bool:
    with path.open("wb") as file:
        file.truncate(size)
    return True


def _signal_parent() -> bool:
    parent = os.getppid()
    if parent:
        os.kill(parent, 0)  # no signal, only the question whether one may be sent
    return parent > 0


def _fork() -> bool:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    return True


def _thread() -> bool:
    import threading

    done: list[int] = []
    thread = threading.Thread(target=done.append, args=(1,))
    thread.start()
    thread.join()
    return bool(done)


if __name__ == "__main__":
    from tpu_audit.trace.confinement import confine

    folder, number, real = sys.argv[1:]
    confine(folder, [])
    sys.stdout.write(json.dumps(succeeded(int(number), real)))
    sys.stdout.flush()
    os._exit(0)
