"""What IPython adds to Python: shell lines, magics, help marks."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CELL = re.compile(r"\s*%%(\w+)([^\n]*)(?:\n|$)")
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "writefile", "python", "python3"})
_SHELL_CELLS = frozenset({"bash", "sh", "script", "system", "shell", "sx"})
_STATEMENT_MAGIC = re.compile(
    r"%(?:time|timeit|prun|memit|mprun|lprun)\b(?:\s+-\w+(?:\s*\d+)?)*\s*"
)
_SHELL_LINE = re.compile(r"!{1,2}\s*|%(?:sx|system|bash|sh)\s+")
_INSTALLER = re.compile(r"%(?=(?:pip|conda|mamba|uv)\s)")
_SET_ENV = re.compile(r"%(?:set_env|env)\s+(?=[A-Za-z_]\w*=)")
_ASSIGNED = re.compile(r"[A-Za-z_][\w.,\s\[\]]*=\s*(!|%(?:sx|system)\s+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of a cell, told apart."""

    kind: str
    """``python``, ``shell`` or ``other`` (a magic that runs neither)."""
    skip: int = 0
    """Characters at the front that are IPython's own."""


def cell_kind(text: str) -> tuple[str, int]:
    """Return what a cell holds (``python``, ``shell``, ``other``) and where it begins."""
    match = _CELL.match(text)
    if not match:
        return "python", 0
    name = match.group(1)
    if name in _SHELL_CELLS:
        return "shell", match.end()
    if name == "writefile" and not match.group(2).strip().endswith(".py"):
        return "other", match.end()
    return ("python" if name in _PYTHON_CELLS else "other"), match.end()


def line_kind(line: str) -> Line:
    """Tell one line of a Python cell; ``line`` has no indentation."""
    if line[:1] not in "!%?" and not line.rstrip().endswith("?"):
        assigned = _ASSIGNED.match(line) if "!" in line or "%" in line else None
        return Line(kind="shell", skip=assigned.end()) if assigned else Line(kind="python")
    if match := _STATEMENT_MAGIC.match(line):
        return Line(kind="python", skip=match.end())
    for pattern in (_INSTALLER, _SHELL_LINE, _SET_ENV):
        if match := pattern.match(line):
            return Line(kind="shell", skip=match.end())
    return Line(kind="other")
