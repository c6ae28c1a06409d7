"""Tests for the version of PyTorch, which every PyTorch that TPUs work with answers alike."""

from __future__ import annotations

import ast
import re

_FLAG = re.compile(
    r"^_*(?:is_)?(?:py)?torch(?:_version)?_?(?:(?:greater|higher)_(?:or_)?equal(?:_than)?|gt?e)?"
    r"_?(?P<version>[12]_\d{1,2})(?:_0)?$",
    re.IGNORECASE,
)
"""Flags of projects for a PyTorch of at least a version: ``TORCH_2_4``."""
_HELPERS = frozenset({"is_torch_version", "is_torch_greater_or_equal", "is_torch_higher_equal"})
_RECENT = frozenset({"accelerator", "compile", "get_device_module", "amp", "export"})
"""What every PyTorch that TPUs work with has."""
_VERSION = re.compile(r"^(\d+)\.(\d+)")
_OLDEST = (2, 11)
"""The oldest PyTorch that TorchTPU works with."""
_ANSWERS = {">=": True, ">": True, "!=": True, "<": False, "<=": False, "==": False}


def asks_version(test: ast.expr) -> bool | None:
    """Return what a test for an old PyTorch says: ``TORCH_2_4``, ``is_torch_version("<", "2")``.

    None for other tests, and for versions that TorchTPU may work with.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        answer = asks_version(test.operand)
        return None if answer is None else not answer
    if isinstance(test, ast.BoolOp):
        decides = isinstance(test.op, ast.Or)
        answers = [asks_version(value) for value in test.values]
        return decides if decides in answers else None
    word = str(getattr(test, "attr", getattr(test, "id", "")))
    flag = _FLAG.match(word)
    if flag is not None:
        return True if _is_old(flag["version"].replace("_", ".")) else None
    return _asked(test) if isinstance(test, ast.Call) else None


def _asked(call: ast.Call) -> bool | None:
    word = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if word == "hasattr" and len(call.args) > 1 and getattr(call.args[0], "id", "") == "torch":
        return True if getattr(call.args[1], "value", None) in _RECENT else None
    texts = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
    known = [text for text in texts if isinstance(text, str)]
    if word not in _HELPERS or not known or not _is_old(known[-1]):
        return None
    return _ANSWERS.get(known[0] if len(known) > 1 else ">=")


def _is_old(version: str) -> bool:
    found = _VERSION.match(version)
    return found is not None and (int(found[1]), int(found[2])) < _OLDEST
