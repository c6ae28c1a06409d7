"""The system calls that Python has no name for."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from tpu_audit.trace.confinement.errors import ConfinementError

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
MNT_DETACH = 2
NEW_NAMESPACES = {
    "user": 0x10000000,
    "mount": 0x00020000,
    "network": 0x40000000,
    "process": 0x20000000,
    "IPC": 0x08000000,
    "host name": 0x04000000,
}
"""Kind of namespace -> its CLONE_NEW* flag."""

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 1, 38, 22
SECCOMP_MODE_FILTER = 2
_MOUNT_SETATTR = 442  # the same number on every architecture
_AT_RECURSIVE = 0x8000
_CAPABILITY_VERSION = 0x20080522


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        raise ConfinementError(f"{what}: {os.strerror(ctypes.get_errno())}")


def unshare(flags: int) -> None:
    """Leave the namespaces that ``flags`` name for new ones."""
    _checked(_libc().unshare(flags), "no namespaces of its own")


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Mount ``source`` at ``target``."""
    texts = [None if text is None else text.encode() for text in (source, target, kind, data)]
    result = _libc().mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3])
    _checked(result, f"cannot mount {target}")


def make_read_only(target: str) -> None:
    """Make the mount at ``target`` and all below it read-only, without set-user-id programs."""
    wanted = _MountAttributes(set=MS_RDONLY | MS_NOSUID)
    result = _libc().syscall(
        _MOUNT_SETATTR,
        -1,
        target.encode(),
        _AT_RECURSIVE,
        ctypes.byref(wanted),
        ctypes.sizeof(wanted),
    )
    _checked(result, f"cannot make {target} read-only (Linux 5.12 is needed)")


def change_root(folder: str) -> None:
    """Make ``folder``, a mount, the root, and let go of the old one."""
    os.chdir(folder)
    libc = _libc()
    # Stacking the old root on the new one needs no folder to put it in.
    _checked(libc.pivot_root(b".", b"."), "cannot change the root")
    _checked(libc.umount2(b".", MNT_DETACH), "cannot leave the old root")
    os.chdir("/")


def control(option: int, *values: int, what: str) -> None:
    """Call prctl; ``what`` says what failed."""
    padded = [*values, *[0] * (4 - len(values))]
    _checked(_libc().prctl(option, *map(ctypes.c_ulong, padded)), what)


def drop_capabilities() -> None:
    """Give up every capability, for good: none can be gained by starting a program either."""
    control(PR_SET_NO_NEW_PRIVS, 1, what="cannot forgo new privileges")
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    none = (ctypes.c_uint32 * 6)()
    _checked(_libc().capset(header, none), "cannot drop capabilities")
