"""Shuts this process in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.trace.confinement import kernel
from tpu_audit.trace.confinement.errors import ConfinementError
from tpu_audit.trace.confinement.namespaces import continue_inside, enter_namespaces
from tpu_audit.trace.confinement.scratch import SIZE_MB, build_root
from tpu_audit.trace.confinement.syscalls import forbid_system_calls
from tpu_audit.trace.limits import bound_files

if TYPE_CHECKING:
    from collections.abc import Iterable

_confined: list[str] = []


def is_confined() -> bool:
    """Whether :func:`confine` has shut this process in."""
    return bool(_confined)


def confine(root: str, packages: Iterable[str]) -> None:
    """Shut this process in, for good; it goes on as another one, and the caller's fork waits.

    ``root`` is an empty folder, ``packages`` folders of Python packages to see besides those of
    the interpreter. Call it while there is one thread, before anything untrusted runs. Memory and
    time are bounded by :func:`tpu_audit.trace.limits.bound_process`, after the heavy imports.

    Raises ConfinementError when the system does not let it be done in full.
    """
    try:
        enter_namespaces()
        continue_inside()
        build_root(root, packages)
        kernel.drop_capabilities()
        forbid_system_calls()
        bound_files(SIZE_MB)
        _confined.append(root)
    except (OSError, AttributeError) as error:  # a C library without one of the calls
        raise ConfinementError(str(error)) from error
