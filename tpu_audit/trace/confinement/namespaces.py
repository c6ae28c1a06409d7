"""Namespaces of a process's own, and the process that lives in them."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tpu_audit.trace.confinement import kernel
from tpu_audit.trace.confinement.errors import ConfinementError

SHELL = 128
"""A process that a signal ended is told of by this much more than the signal, as shells do."""


def enter_namespaces() -> None:
    """Move into new namespaces of every kind, keeping the user's own id.

    Only a process of one thread can. The process namespace begins with the next fork.
    """
    user, group = os.getuid(), os.getgid()
    flags = 0
    for flag in kernel.NEW_NAMESPACES.values():
        flags |= flag
    kernel.unshare(flags)
    try:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    except OSError as error:
        raise ConfinementError(f"cannot map the user into a namespace: {error}") from error


def continue_inside() -> None:
    """Go on in a child, the first of the new process namespace; this process only waits for it.

    Both die with their parents, and everything that the child starts dies with it.
    """
    _die_with_parent()
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        os._exit(SHELL - code if code < 0 else code)
    _die_with_parent()


def _die_with_parent() -> None:
    kernel.control(kernel.PR_SET_PDEATHSIG, signal.SIGKILL, what="cannot be bound to its parent")
