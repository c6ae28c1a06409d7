"""A process for code that nobody here has read. Linux only.

It sees no network, no files but libraries, no other process and no credential; memory, time, files
and processes are bounded.

What it is made of: namespaces of its own, a new root file system in memory into which Python and
its libraries are mounted read-only, no capabilities, and a filter of system calls. Where the kernel
grants less than all of that, nothing is run.
"""

from tpu_audit.trace.confinement.enter import confine, is_confined
from tpu_audit.trace.confinement.errors import ConfinementError
from tpu_audit.trace.confinement.namespaces import SHELL
from tpu_audit.trace.confinement.scratch import HOME, environment

__all__ = ["HOME", "SHELL", "ConfinementError", "confine", "environment", "is_confined"]
