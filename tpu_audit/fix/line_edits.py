"""The change from one text to another as edits of lines."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import accumulate

from tpu_audit.rules.edits import Edit


def line_edits(before: str, after: str) -> tuple[Edit, ...]:
    """Return edits, in bytes of UTF-8, that turn ``before`` into ``after``."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    sizes = (len(line.encode("utf-8", "surrogatepass")) for line in old)
    starts = list(accumulate(sizes, initial=0))
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(
        Edit(start=starts[low], end=starts[high], text="".join(new[first:last]))
        for what, low, high, first, last in blocks
        if what != "equal"
    )
