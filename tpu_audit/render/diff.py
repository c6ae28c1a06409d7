"""Unified diffs for a terminal: ASCII of its own, in git's colours where they are welcome."""

from __future__ import annotations

from difflib import unified_diff

from tpu_audit.render.text import clean

_RED, _GREEN, _CYAN, _BOLD, _RESET = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[0m"

_NO_END = "  (no line end)"


def unified(path: str, before: bytes, after: bytes, *, color: bool = False) -> str:
    """Return the change of a file as a diff with three lines of context."""
    old, new = (_lines(data) for data in (before, after))
    found = unified_diff(old, new, f"a/{path}", f"b/{path}", lineterm="")
    return "".join(f"{_painted(line, color=color)}\n" for line in found)


def _lines(data: bytes) -> list[str]:
    lines = data.decode("utf-8", "replace").split("\n")
    return lines[:-1] if lines[-1] == "" else [*lines[:-1], f"{lines[-1]}{_NO_END}"]


def _painted(line: str, *, color: bool) -> str:
    safe = "\t".join(clean(part) for part in line.removesuffix("\r").split("\t"))
    if not color:
        return safe
    if line.startswith(("---", "+++")):
        return f"{_BOLD}{safe}{_RESET}"
    paint = {"-": _RED, "+": _GREEN, "@": _CYAN}.get(line[:1])
    return f"{paint}{safe}{_RESET}" if paint else safe
