"""Runs one rule over one of its cases."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tpu_audit.rules.checking import Found, check_document, check_module, relevant
from tpu_audit.rules.edits import Applicability, apply_edits
from tpu_audit.rules.files.reading import read_document
from tpu_audit.rules.python.module import Module
from tpu_audit.rules.text import SourceText

if TYPE_CHECKING:
    from tpu_audit.rules.rule import Case, Rule

_SUFFIXES = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".toml": "toml",
    ".ini": "ini",
    ".cfg": "ini",
    ".env": "env",
    ".sh": "shell",
    ".slurm": "shell",
    ".sbatch": "shell",
    ".cu": "cpp",
    ".cpp": "cpp",
    ".cuh": "cpp",
    ".cc": "cpp",
    ".h": "cpp",
    ".mk": "makefile",
    ".txt": "requirements",
    ".cmake": "cmake",
    ".lock": "toml",
}
_NAMES = {
    "Dockerfile": "dockerfile",
    "Makefile": "makefile",
    "CMakeLists.txt": "cmake",
    ".env": "env",
}


def check(rule: Rule, case: Case) -> list[Found]:
    """Return what the rule finds in the case, its words given first as the checker does."""
    if not relevant([rule], case.source):
        return []
    path = PurePosixPath(case.filename)
    if path.suffix == ".py":
        return check_module(Module(case.filename, case.source), [rule])
    kind = _NAMES.get(path.name) or _SUFFIXES[path.suffix]
    return check_document(read_document(kind, case.filename, SourceText(case.source)), [rule])


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
