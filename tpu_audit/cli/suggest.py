"""Did you mean: the nearest valid spellings of a wrong one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(word: str, valid: Iterable[str]) -> str | None:
    """Return ``did you mean 'scan'?``, or None when nothing is near."""
    from difflib import get_close_matches  # for mistakes only

    near = get_close_matches(word, list(valid), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(repr(name) for name in near)}?" if near else None
