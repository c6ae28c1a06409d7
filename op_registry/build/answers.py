"""Reads the backend's error texts: they, not their classes, tell what happened."""

from __future__ import annotations

import re

from op_registry.build.observation import Answer, Reply

_TEXTS = (
    ("is not implemented for TPU", Answer.NOT_IMPLEMENTED),
    ("sparse operators are not supported on TPU", Answer.NOT_IMPLEMENTED),
    ("cannot record EventSnapshot during an FX trace", Answer.HOST_SYNC),
    ("cannot Materialize() a placeholder", Answer.HOST_SYNC),
    ("failed to retrieve the PjRt client", Answer.NEEDS_DEVICE),
)
_UNSTABLE = re.compile(r"0x[0-9a-f]+|\d{9,}|(?:/[\w.+-]+){2,}(?::\d+:\d+)?")
"""Addresses, stray memory, paths and places in files: they differ between two runs, two machines or
two versions of this code."""


def classify(error: BaseException) -> Reply:
    """Return what ``error``, raised by a call on the backend, means."""
    message = first_line(error)
    for text, answer in _TEXTS:
        if text in str(error):
            return Reply(answer=answer, message=message)
    refused = isinstance(error, NotImplementedError)
    return Reply(answer=Answer.REJECTED if refused else Answer.OTHER, message=message)


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text without what changes from run to run."""
    return stable((str(error).strip() or type(error).__name__).splitlines()[0])


def stable(text: str) -> str:
    """Return ``text`` without what changes from run to run, and no longer than a line or two."""
    return _UNSTABLE.sub("...", text)[:300].strip()
