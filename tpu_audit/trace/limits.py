"""Bounds on the process that traces, so that a hostile config costs itself only."""

from __future__ import annotations

import faulthandler
import gc
import math
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpu_audit.types.trace import TraceSettings

_SLACK_S = 5
"""Seconds beyond the parent's time limit after which the child ends itself."""
_OPEN_FILES = 1024


def bound_process(settings: TraceSettings) -> None:
    """Bound this process's memory, processor time and lifetime, as far as the system can.

    Memory is the address space in use now plus ``settings.memory_mb``. The clocks run a little
    longer than ``settings.timeout_s``: they serve when the parent, who keeps time, has died.
    """
    try:
        import resource
    except ImportError:
        return
    seconds = math.ceil(settings.timeout_s) + _SLACK_S
    signal.alarm(seconds)
    _set(resource.RLIMIT_CPU, seconds)
    _set(resource.RLIMIT_CORE, 0)
    used = _address_space()
    if used is not None:
        _set(resource.RLIMIT_AS, used + settings.memory_mb * 2**20)


def bound_files(size_mb: int) -> None:
    """Bound the size of each file that this process writes, and how many it holds open."""
    import resource

    _set(resource.RLIMIT_FSIZE, size_mb * 2**20)
    _set(resource.RLIMIT_NOFILE, _OPEN_FILES)


def _set(kind: int, value: int) -> None:
    """Lower a limit, never raise it above what the user's shell allows."""
    import resource

    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


def _address_space() -> int | None:
    """Bytes of address space in use, or None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def silence() -> None:
    """Send everything that this process, its libraries included, prints to nowhere."""
    faulthandler.disable()  # it keeps a descriptor of its own
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for good


def settle() -> None:
    """Make a fresh fork cheap and safe.

    Its parent's objects are never collected here, no thread pool of the parent (gone with the
    fork) is waited for, and no model's constructor fetches anything.
    """
    gc.freeze()
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
    hub = sys.modules.get("huggingface_hub.constants")
    if hub is not None:
        vars(hub)["HF_HUB_OFFLINE"] = True
