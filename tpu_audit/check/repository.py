"""Checks files that somebody else chose, each under its name in the repository it is from."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tpu_audit.check.digest import code_digest
from tpu_audit.check.recall import Recall, Silent, results_of
from tpu_audit.check.result import UNREAD, FileResult, Item
from tpu_audit.check.source import Source
from tpu_audit.types.report import Unread

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(slots=True)
class RepositoryCheck:
    """What was found in the files of one repository."""

    items: list[tuple[str, Item]] = field(default_factory=list)
    """Name of the file and what is found there, in the order of files and lines."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Files read, by kind."""
    suppressed: int = 0
    """Findings that comments leave out."""
    unread: list[Unread] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    """Sentences on the run: a cache that cannot be written."""


def check_repository(
    files: Mapping[str, str],
    *,
    ignore: tuple[str, ...] = (),
    cache_dir: Path | None = None,
    reuse: bool = True,
) -> RepositoryCheck:
    """Check ``files`` (name in the repository -> where it is) by the stable rules.

    ``ignore`` are codes, prefixes or names of rules to leave out. Results are remembered in
    ``cache_dir`` and taken from there when ``reuse``; rules are imported only for files that are
    not known. Raises UsageError for a selector in ``ignore`` that no rule answers to.
    """

    def codes() -> tuple[str, ...]:
        from tpu_audit.check.selection import selected  # knows the rules

        return tuple(rule.code for rule in selected((), ignore, preview=False))

    digest = _digest(ignore)
    recall = Recall(digest=digest, codes=codes, cache_dir=cache_dir, reuse=reuse)
    sources = [Source(path=path, shown=name, logical=name) for name, path in sorted(files.items())]
    results, notes = results_of(sources, recall, Silent())
    found = RepositoryCheck(notes=notes)
    for source, result in zip(sources, results, strict=True):
        _take(found, source.logical, result)
    return found


def _digest(ignore: tuple[str, ...]) -> bytes:
    """Return what stands for the stable rules of this version without those ignored."""
    digest = hashlib.blake2b(code_digest(), digest_size=16)
    digest.update("\0".join(("stable", *sorted(ignore))).encode())
    return digest.digest()


def _take(found: RepositoryCheck, name: str, result: FileResult) -> None:
    found.unread += (
        Unread(path=name, line=gap.line, code=gap.code, reason=gap.reason) for gap in result.gaps
    )
    if result.kind is None or result.kind == UNREAD:
        return
    found.kinds[result.kind] += 1
    kept = tuple(sorted(result.items, key=lambda item: (item.line, item.column, item.code)))
    if result.comments:
        from tpu_audit.check.silence import judge  # knows the rules

        # As if none had run: what is wrong with its authors' comments is not the model's business.
        kept = judge(result, frozenset()).kept
        found.suppressed += len(result.items) - len(kept)
    found.items += ((name, item) for item in kept)
