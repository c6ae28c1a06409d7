"""Repairs one file: pass after pass until nothing changes, never into something unreadable."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tpu_audit.check.classify import kind_of_content, kind_of_name
from tpu_audit.check.file_check import findings_of
from tpu_audit.check.parts import parts_of
from tpu_audit.check.selection import PerFile, ignored_in
from tpu_audit.check.time_limit import FILE_S, OutOfTimeError, time_limit
from tpu_audit.fix.choose import Repair, compatible
from tpu_audit.fix.comments import unused_comments
from tpu_audit.fix.imports import move_imports, orphans
from tpu_audit.fix.line_edits import line_edits
from tpu_audit.fix.verify import still_valid
from tpu_audit.rules.edits import Applicability, Edit, Fix, apply_edits
from tpu_audit.rules.files.decoding import Decoded, decode
from tpu_audit.rules.files.errors import NotReadableError
from tpu_audit.rules.rule import Rule
from tpu_audit.rules.text import SourceText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tpu_audit.check.parts import Part


MAX_PASSES = 10
"""Repairs that still find something after so many are asking for each other."""
_LINE_END = re.compile(r"(?<!\r)\n")


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What may be repaired."""

    rules: tuple[Rule, ...]
    applicable: frozenset[Applicability]
    exceptions: tuple[PerFile, ...] = ()


@dataclass(slots=True)
class FileFix:
    """A file before and after."""

    before: bytes
    after: bytes
    applied: Counter[str] = field(default_factory=Counter)
    """Repairs made, by rule."""
    refused: Counter[str] = field(default_factory=Counter)
    """Repairs that would have left a file that does not parse, by rule."""


def repair_bytes(logical: str, data: bytes, wish: Wish) -> FileFix:
    """Repair the content of a file called ``logical``; what cannot be read comes back as it is."""
    done = FileFix(before=data, after=data)
    kind = kind_of_content(logical, kind_of_name(logical), data)
    if kind is None:
        return done
    try:
        decoded = decode(data, python=kind == "python")
        with time_limit(3 * FILE_S):
            _passes(_File(kind=kind, logical=logical), decoded, wish, done)
    except (NotReadableError, OutOfTimeError, RecursionError, MemoryError):
        return done
    return done


@dataclass(frozen=True, kw_only=True, slots=True)
class _File:
    kind: str
    logical: str


def _passes(file: _File, decoded: Decoded, wish: Wish, done: FileFix) -> None:
    text = decoded.text
    for _ in range(MAX_PASSES):
        repairs = compatible(_wanted(file, text, wish))
        repairs = [one for one in repairs if one.code not in done.refused]
        if not repairs:
            break
        text = _make(file, text, repairs, done)
    if text == decoded.text:
        return
    try:
        done.after = decoded.encode(text)
    except UnicodeError:  # the file's encoding lacks a character of the new text
        done.refused += done.applied
        done.applied.clear()


def _make(file: _File, text: str, repairs: Sequence[Repair], done: FileFix) -> str:
    """Make the repairs together, else one by one, leaving out those that break the file."""
    if (whole := _applied(file, text, repairs)) is not None:
        done.applied += Counter(one.code for one in repairs)
        return whole
    made = []
    for one in reversed(repairs):  # from the end, where places stay right
        if (part := _applied(file, text, [one])) is not None:
            text = part
            made.append(one.code)
    # What breaks the file beside another repair may do well in the next pass.
    done.applied += Counter(made)
    if not made:
        done.refused += Counter(one.code for one in repairs)
    return text


def _applied(file: _File, text: str, repairs: Sequence[Repair]) -> str | None:
    """Return the text after the repairs; None when that is no longer a file of its kind."""
    edits = tuple(_as_in(text, edit) for one in repairs for edit in one.fix.edits)
    try:
        data = apply_edits(text.encode("utf-8", "surrogatepass"), edits)
        after = data.decode("utf-8", "surrogatepass")
        after = _with_imports(file, text, after, [one.fix for one in repairs])
    except (ValueError, NotReadableError):
        return None
    return after if still_valid(file.kind, text, after) else None


def _as_in(text: str, edit: Edit) -> Edit:
    """Write an edit's line ends as the file does."""
    if "\n" not in edit.text or "\r\n" not in text:
        return edit
    return Edit(start=edit.start, end=edit.end, text=_LINE_END.sub("\r\n", edit.text))


def _with_imports(file: _File, before: str, text: str, fixes: Sequence[Fix]) -> str:
    if file.kind not in {"python", "notebook"}:
        return text
    adds = list(dict.fromkeys(name for fix in fixes for name in fix.adds_imports))
    removes = list(dict.fromkeys(name for fix in fixes for name in fix.removes_imports))
    source = SourceText(text)
    part, old = (_python(file.kind, one) for one in (source, SourceText(before)))
    # A package's own file holds names for others; a cell that is not read may use any.
    if not file.logical.endswith("__init__.py") and not part.gaps:
        removes += orphans(old.source.text, part.source.text)
    if not adds and not removes:
        return text
    moved = move_imports(part.source.text, adds, removes)
    if part.mapped is None:
        return moved
    edits = line_edits(part.source.text, moved)
    fix = part.repair(Fix(edits=edits, applicability=Applicability.SAFE))
    return apply_edits(source.encoded, fix.edits).decode("utf-8", "surrogatepass")


def _python(kind: str, source: SourceText) -> Part:
    return next(part for part in parts_of(kind, source) if part.kind == "python")


def _wanted(file: _File, text: str, wish: Wish) -> list[Repair]:
    """Return the repairs that findings offer, those that somebody ignores left out."""
    dropped = ignored_in(file.logical, wish.exceptions) if wish.exceptions else frozenset()
    source = SourceText(text)
    judged = findings_of(file.kind, file.logical, source, wish.rules)
    found = [
        Repair(code=one.code, fix=one.fix)
        for one in judged.repairs
        if one.code not in dropped and one.fix.applicability in wish.applicable
    ]
    if Applicability.SAFE in wish.applicable:
        found += unused_comments(source, judged.kept)
    return found
