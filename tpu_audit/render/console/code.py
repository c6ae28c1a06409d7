"""What was read of a model's own code: how many files, whether they run, what could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.render.text import plural

if TYPE_CHECKING:
    from tpu_audit.render.console.paper import Paper
    from tpu_audit.types.report import CodeCheck

_FEW = 3
"""Files that could not be read that a screen has room for."""


def write_code(paper: Paper, code: CodeCheck, *, everything: bool) -> None:
    """Write what was checked, where there is code; and what could not be, in any case."""
    python = code.files.get("python", 0)
    if python:
        others = sum(code.files.values()) - python
        beside = f" and {plural(others, 'other file')}" if others else ""
        paper.labelled(
            "code", f"{plural(python, 'Python file')}{beside} checked, none run", _runs(code)
        )
    if code.suppressed:
        paper.labelled("ignored", f"{plural(code.suppressed, 'finding')}, by comments in the files")
    reasons: dict[str, list[str]] = {}
    for unread in code.unread:
        place = unread.path if unread.line is None else f"{unread.path}:{unread.line}"
        reasons.setdefault(unread.reason, []).append(place)
    for reason, places in reasons.items():
        shown = places if everything else places[:_FEW]
        more = len(places) - len(shown)
        rest = f" and {more} more" if more else ""
        paper.labelled("not read", (f"{', '.join(shown)}{rest}: {reason}", "yellow"))


def _runs(code: CodeCheck) -> str:
    """Say which of the files loading the model would run."""
    if not code.loaded:
        return "; none is the model's"
    number = f"; {len(code.loaded):,} {'makes' if len(code.loaded) == 1 else 'make'} the model"
    return number if code.runs else f"{number} with `trust_remote_code=True`"
