"""What can be said of a StableHLO program from its text."""

from __future__ import annotations

import hashlib
import re

MOSAIC = "tpu_custom_call"
"""Target of a kernel in Mosaic, the language below Pallas: it compiles for a TPU only."""
_MODULE_NAME = re.compile(r'^(\s*module) @(?:"[^"]*"|[\w.$-]+)', re.MULTILINE)
_CUSTOM_CALL = re.compile(r'custom_call @(?:"([^"]+)"|([\w.$-]+))|call_target_name = "([^"]+)"')


def without_name(text: str) -> str:
    """Return the program without its module's name: that tells who made it, not what it does."""
    return _MODULE_NAME.sub(r"\1", text, count=1)


def digest(text: str) -> str:
    """Return a SHA-256 that programs share which differ in their module's name only."""
    return hashlib.sha256(without_name(text).encode()).hexdigest()


def custom_calls(text: str) -> tuple[str, ...]:
    """Return the targets of the program's custom calls, each once, sorted."""
    found = _CUSTOM_CALL.findall(text)
    return tuple(sorted({name for groups in found for name in groups if name}))


def has_mosaic(text: str) -> bool:
    """Say whether the program holds a Mosaic kernel."""
    return MOSAIC in custom_calls(text)
