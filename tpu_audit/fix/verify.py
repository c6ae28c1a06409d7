"""Whether a repaired file is still one: it parses, and compiles if it did before."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING

from tpu_audit.check.file_check import parse
from tpu_audit.check.parts import parts_of
from tpu_audit.rules.files.errors import NotReadableError
from tpu_audit.rules.files.reading import READERS, read_document
from tpu_audit.rules.text import SourceText

if TYPE_CHECKING:
    from tpu_audit.check.parts import Part


def still_valid(kind: str, before: str, after: str) -> bool:
    """Tell whether ``after`` is a file of ``kind`` no worse than ``before``."""
    try:
        if kind == "notebook":
            json.loads(after)
        old, new = (list(parts_of(kind, SourceText(text))) for text in (before, after))
        for part in new:
            _read(part)
        # A repaired cell that no longer parses would be left out, not refused.
        if sum(len(part.gaps) for part in new) > sum(len(part.gaps) for part in old):
            return False
    except (NotReadableError, ValueError, RecursionError, MemoryError):
        return False
    return kind != "python" or _compiles(after) or not _compiles(before)


def _read(part: Part) -> None:
    if part.kind == "python":
        parse(part.source.text)
    elif part.kind in READERS:
        read_document(part.kind, "", part.source)


def _compiles(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<repaired>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
