"""What goes wrong when a process confines itself."""

from __future__ import annotations


class ConfinementError(Exception):
    """The kernel refuses a part of the confinement; the message says which, and why."""
