"""Edits of a call's arguments."""

from __future__ import annotations

import ast

import pytest

from tpu_audit.rules.edits import Edit, apply_edits
from tpu_audit.rules.python.arguments import appended, renamed, without
from tpu_audit.rules.python.module import Module


def _call(source: str) -> tuple[ast.Call, Module]:
    module = Module("case.py", source)
    return module.index.of(ast.Call)[0], module


def _applied(source: str, edit: Edit | None) -> str | None:
    return None if edit is None else apply_edits(source.encode(), (edit,)).decode()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f(a)", "f(a, n=1)"),
        ("f()", "f(n=1)"),
        ("f((a))", "f((a), n=1)"),
        ("f(\n    a,\n    b=2,  # two\n)", "f(\n    a,\n    b=2, n=1,  # two\n)"),
        ("f(x for x in y)", None),
        ("f(*a, **b)", "f(*a, **b, n=1)"),
    ],
)
def test_appends_arguments(source: str, expected: str | None) -> None:
    """An argument goes after the last one, brackets and trailing commas kept."""
    call, module = _call(source)
    assert _applied(source, appended(call, "n=1", module)) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f(a, n=1)", "f(a)"),
        ("f(n=1)", "f()"),
        ("f(n=1, b=2)", "f(b=2)"),
        ("f(a, n=1, **k)", "f(a, **k)"),
        ("f((a), n=1)", None),
        ("f(a)", None),
    ],
)
def test_removes_arguments(source: str, expected: str | None) -> None:
    """A keyword argument goes with its comma; nothing is done where that would not parse."""
    call, module = _call(source)
    assert _applied(source, without(call, "n", module)) == expected


def test_renames_methods_behind_brackets() -> None:
    """What a method is called on keeps its brackets."""
    source = "y = (a + b).half()"
    call, module = _call(source)
    assert _applied(source, renamed(call, "float()", module)) == "y = (a + b).float()"
