"""A filter that refuses system calls which no model needs and an attack may.

A confined process starts no other process (its memory limit would not hold), opens no socket (some
kinds pass network namespaces by), traces none, reads no key ring, and makes no namespaces.
"""

from __future__ import annotations

import ctypes
import platform
import struct

from tpu_audit.trace.confinement import kernel
from tpu_audit.trace.confinement.errors import ConfinementError

_CLONE_THREAD = 0x00010000
_EPERM, _ENOSYS = 1, 38
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_FOREIGN = 0x40000000
"""System calls of another binary interface (x32) carry this bit."""

_NAMES = (
    *("clone", "clone3", "fork", "vfork", "socket", "ptrace", "process_vm_readv"),
    *("process_vm_writev", "add_key", "request_key", "keyctl", "unshare", "setns", "mount"),
    *("io_uring_setup", "bpf", "userfaultfd", "perf_event_open", "pidfd_getfd"),
)
_NUMBERS = {
    "x86_64": (
        0xC000003E,
        (56, 435, 57, 58, 41, 101, 310, 311, 248, 249, 250, 272, 308, 165, 425, 321, 323, 298, 438),
    ),
    "aarch64": (
        0xC00000B7,
        (
            *(220, 435, None, None, 198, 117, 270, 271, 217, 218, 219, 97, 268, 40, 425, 280),
            *(282, 241, 438),
        ),
    ),
}
"""Machine -> its audit number and the numbers of ``_NAMES``; None: it has no such call."""

Instruction = tuple[int, int, int, int]
"""Code, instructions to skip where true, where false, operand."""


def forbid_system_calls() -> None:
    """Install the filter in this thread and all that it starts; it cannot be taken off."""
    program = b"".join(struct.pack("HBBI", *one) for one in _program(platform.machine()))
    buffer = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: a length, padding, a pointer.
    header = ctypes.create_string_buffer(
        struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    )
    address = ctypes.addressof(header)
    kernel.control(
        kernel.PR_SET_SECCOMP,
        kernel.SECCOMP_MODE_FILTER,
        address,
        what="cannot filter system calls",
    )


def _program(machine: str) -> list[Instruction]:
    if machine not in _NUMBERS:
        raise ConfinementError(f"no filter of system calls is known for {machine}")
    architecture, numbers = _NUMBERS[machine]
    rules = {name: number for name, number in zip(_NAMES, numbers, strict=True) if number}
    thread, newer = rules.pop("clone"), rules.pop("clone3")
    refuse = _ERRNO | _EPERM
    return [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _FOREIGN),
        (_RETURN, 0, 0, refuse),
        # Its flags are in memory, which a filter cannot read: say it is not there, so that the C
        # library uses the older call.
        (_EQUAL, 0, 1, newer),
        (_RETURN, 0, 0, _ERRNO | _ENOSYS),
        (_EQUAL, 0, 4, thread),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 0, 1, _CLONE_THREAD),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, refuse),
        *(step for n in rules.values() for step in ((_EQUAL, 0, 1, n), (_RETURN, 0, 0, refuse))),
        (_RETURN, 0, 0, _ALLOW),
    ]
