"""Checks one file: runs the rules that have something to look for, never fails."""

from __future__ import annotations

import ast
import os
import traceback
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpu_audit.check.classify import kind_of_content, kind_of_name
from tpu_audit.check.comments import find_comments
from tpu_audit.check.parts import Part, parts_of
from tpu_audit.check.result import FileResult, Gap, Item
from tpu_audit.check.silence import judge
from tpu_audit.check.time_limit import FILE_S, OutOfTimeError, time_limit
from tpu_audit.rules.checking import Found, check_document, check_module
from tpu_audit.rules.edits import Fix
from tpu_audit.rules.files.decoding import decode
from tpu_audit.rules.files.errors import NotReadableError
from tpu_audit.rules.files.reading import read_document
from tpu_audit.rules.relevance import relevant
from tpu_audit.rules.text import SourceText
from tpu_audit.types.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tpu_audit.rules.rule import Rule

MAX_FINDINGS = 10_000
"""Of one file: a generated one may hold a million, which nobody reads and no memory holds."""


def check_bytes(logical: str, data: bytes, rules: Sequence[Rule]) -> FileResult:
    """Check the content of a file called ``logical``; whatever it holds, a result comes back."""
    kind = kind_of_content(logical, kind_of_name(logical), data)
    if kind is None:
        return FileResult()
    try:
        with time_limit(FILE_S):
            return _check(kind, logical, data, rules)
    except NotReadableError as error:
        return FileResult(kind=kind, gaps=[Gap("unreadable", error.message, error.line)])
    except OutOfTimeError:
        reason = f"its analysis takes more than {FILE_S:.0f} seconds: is it generated?"
        return FileResult(kind=kind, gaps=[Gap("timeout", reason)])
    except (RecursionError, MemoryError):
        return FileResult(kind=kind, gaps=[Gap("too_deep", "nested too deep to be analysed")])
    except Exception as error:  # noqa: BLE001 - one file must not end the run; the report names it
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
        reason = f"internal error at {place}: {shorten(error)}; please report it"
        return FileResult(kind=kind, gaps=[Gap("internal", reason)])


def _check(kind: str, logical: str, data: bytes, rules: Sequence[Rule]) -> FileResult:
    text = decode(data, python=kind == "python").text
    result = FileResult(kind=kind)
    for item, _ in _pairs(kind, logical, SourceText(text), rules, result):
        if len(result.items) == MAX_FINDINGS:
            reason = f"it has more than {MAX_FINDINGS:,} findings: the rest is left out"
            result.gaps.append(Gap("too_many", reason, result.items[-1].line))
            break
        result.items.append(item)
    return result


def _pairs(
    kind: str, logical: str, source: SourceText, rules: Sequence[Rule], result: FileResult
) -> Iterator[tuple[Item, Fix | None]]:
    """Yield each hit with its repair; comments and gaps are added to ``result``."""
    wanted = relevant(rules, source.text, kind)
    marked = "tpu-audit" in source.text
    if not wanted and not marked:
        return
    for part in parts_of(kind, source):
        result.gaps += part.gaps
        if marked:
            result.comments += map(part.comment, find_comments(part.kind, part.source))
        for found in _found(part, logical, wanted):
            fix = found.hit.fix
            yield _item(found, part), part.repair(fix) if fix else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """The repair that a finding offers."""

    code: str
    fix: Fix


@dataclass(frozen=True, kw_only=True, slots=True)
class Offers:
    """What may be repaired in a file, ignore comments heard."""

    repairs: tuple[Offer, ...]
    kept: tuple[Item, ...]


def findings_of(kind: str, logical: str, source: SourceText, rules: Sequence[Rule]) -> Offers:
    """Return what is found in a text, with repairs. Raises ``NotReadableError``."""
    result = FileResult(kind=kind)
    working = [rule for rule in rules if rule.checks]
    fixes = dict[int, Fix | None]()
    for item, fix in _pairs(kind, logical, source, working, result):
        result.items.append(item)
        fixes[id(item)] = fix
    kept = judge(result, frozenset(rule.code for rule in rules)).kept
    offered = ((item.code, fixes.get(id(item))) for item in kept)
    repairs = tuple(Offer(code=code, fix=fix) for code, fix in offered if fix)
    return Offers(repairs=repairs, kept=kept)


def _found(part: Part, logical: str, rules: Sequence[Rule]) -> list[Found]:
    if not rules:
        return []
    if part.kind != "python":
        return check_document(read_document(part.kind, logical, part.source), rules)
    from tpu_audit.rules.python.module import Module  # not for projects without Python

    module = Module(logical, part.source.text, parse(part.source.text))
    try:
        return check_module(module, rules)
    finally:
        module.close()


def parse(text: str) -> ast.Module:
    """Parse Python, silently. Raises ``NotReadableError`` with the line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        message = f"not valid Python 3: {error.msg}"
        raise NotReadableError(message, line=error.lineno) from error
    except ValueError as error:
        raise NotReadableError(f"not valid Python: {error}") from error


def _item(found: Found, part: Part) -> Item:
    hit = found.hit
    span = part.place(hit.span)
    return Item(
        code=found.rule.code,
        severity=found.severity.value,
        line=span.line,
        column=span.column,
        end_line=span.end_line,
        end_column=span.end_column,
        message=hit.message,
        advice=hit.advice,
        cause=hit.cause,
        fixable=hit.fix.applicability.value if hit.fix else None,
    )
