"""Calls that follow the first: what compiles anew, and which condition made it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import torch

from tpu_audit.trace import guesses
from tpu_audit.trace.compiling.watch import guard
from tpu_audit.types.compiled import Change, Recompile

if TYPE_CHECKING:
    from collections.abc import Callable

    from tpu_audit.trace.compiling.backend import Backend

_RECOMPILED = "Detected recompile"
_REASON = re.compile(r"^\s*- (.+)$", re.MULTILINE)


def recompiled(call: Callable[[], Any]) -> tuple[bool, str | None]:
    """Run ``call``, compiling nothing: (something would be compiled, the guard that failed).

    Of several compilations of one function the guard is the newest one's; there is none for code
    that no call has reached before. Other errors pass.
    """
    try:
        with torch.compiler.set_stance("fail_on_recompile"):
            call()
    except RuntimeError as error:
        if _RECOMPILED not in str(error):
            raise
        found = _REASON.search(str(error))
        return True, guard(found[1]) if found else None
    return False, None


def other_values(call: Callable[[], Any]) -> Recompile | None:
    """Call with the same inputs while reads give other numbers; None where nothing is guessed."""
    with guesses.answering_otherwise() as others:
        anew, failed = recompiled(call)
    if not others.given:
        return None
    return Recompile(change=Change.VALUES, anew=anew, guard=failed)


def same_inputs(call: Callable[[], Any], backend: Backend) -> Recompile:
    """Call with the same inputs until nothing is left that a first call only sets up."""
    before, lowers = backend.graphs, backend.lower
    backend.lower = False
    try:
        call()
    finally:
        backend.lower = lowers
    if backend.graphs == before:
        return Recompile(change=Change.NOTHING, anew=False)
    anew, failed = recompiled(call)
    return Recompile(change=Change.NOTHING, anew=anew, guard=failed)


def tried(attempt: Callable[[], Recompile | None]) -> Recompile | None:
    """Return what ``attempt`` shows; what runs once need not run twice, nor at another size."""
    try:
        return attempt()
    except Exception:  # noqa: BLE001 - the first call stands
        return None
