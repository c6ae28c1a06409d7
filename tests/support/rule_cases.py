"""Runs one rule over one of its cases, as the checker runs it over a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tpu_audit.check.classify import kind_of_content, kind_of_name
from tpu_audit.check.parts import Part, parts_of
from tpu_audit.rules.checking import Found, check_document, check_module
from tpu_audit.rules.edits import Applicability, apply_edits
from tpu_audit.rules.files.reading import read_document
from tpu_audit.rules.python.module import Module
from tpu_audit.rules.relevance import relevant
from tpu_audit.rules.text import SourceText

if TYPE_CHECKING:
    from tpu_audit.rules.rule import Case, Rule


def check(rule: Rule, case: Case) -> list[Found]:
    """Return what the rule finds in the case, with the places in the case's file."""
    if not relevant([rule], case.source):
        return []
    kind = kind_of_content(case.filename, kind_of_name(case.filename), case.source.encode())
    assert kind is not None, f"no reader takes {case.filename!r}"
    return [
        _placed(found, part)
        for part in parts_of(kind, SourceText(case.source))
        for found in _check_part(rule, case.filename, part)
    ]


def _check_part(rule: Rule, path: str, part: Part) -> list[Found]:
    if part.kind == "python":
        return check_module(Module(path, part.source.text), [rule])
    return check_document(read_document(part.kind, path, part.source), [rule])


def _placed(found: Found, part: Part) -> Found:
    fix = None if found.hit.fix is None else part.repair(found.hit.fix)
    return replace(found, hit=replace(found.hit, span=part.place(found.hit.span), fix=fix))


def repaired(rule: Rule, case: Case) -> str:
    """Return the case's text after the edits of all fixes but display-only ones."""
    fixes = [found.hit.fix for found in check(rule, case) if found.hit.fix is not None]
    edits = tuple(
        edit
        for fix in fixes
        if fix.applicability is not Applicability.DISPLAY
        for edit in fix.edits
    )
    return apply_edits(case.source.encode(), edits).decode()
