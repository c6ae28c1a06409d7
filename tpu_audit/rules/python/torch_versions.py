"""Tests for the version of PyTorch, which every PyTorch that TPUs work with answers alike."""

from __future__ import annotations

import ast
import re

from tpu_audit.rules.python.walk import descend

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
_NEWER = {
    **dict.fromkeys((ast.Gt, ast.GtE, ast.NotEq), True),
    **dict.fromkeys((ast.Lt, ast.LtE, ast.Eq), False),
}
"""What a recent version says, compared with an old one."""
_OLDER = {
    **dict.fromkeys((ast.Lt, ast.LtE, ast.NotEq), True),
    **dict.fromkeys((ast.Gt, ast.GtE, ast.Eq), False),
}
"""The same, the old one to the left."""
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
    if isinstance(test, ast.Compare):
        return _compared(test)
    return _asked(test) if isinstance(test, ast.Call) else None


def _asked(call: ast.Call) -> bool | None:
    word = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if word == "hasattr" and len(call.args) > 1 and getattr(call.args[0], "id", "") == "torch":
        return True if getattr(call.args[1], "value", None) in _RECENT else None
    if "check_version" in word and not call.keywords and len(call.args) > 1:
        oldest = _literal(call.args[1])
        return True if _is_torch(call.args[0]) and _is_old(oldest) else None
    texts = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
    known = [text for text in texts if isinstance(text, str)]
    if word not in _HELPERS or not known or not _is_old(known[-1]):
        return None
    return _ANSWERS.get(known[0] if len(known) > 1 else ">=")


def _compared(test: ast.Compare) -> bool | None:
    """Answer ``version.parse(torch.__version__) < Version("2.0")``, chained or turned round."""
    sides = [test.left, *test.comparators]
    answers = [
        _pair(left, operator, right)
        for left, operator, right in zip(sides[:-1], test.ops, sides[1:], strict=True)
    ]
    if False in answers:
        return False
    return None if None in answers else True


def _pair(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool | None:
    if _is_torch(left) and _is_old(_literal(right)):
        return _NEWER.get(type(operator))
    if _is_torch(right) and _is_old(_literal(left)):
        return _OLDER.get(type(operator))
    return None


def _is_torch(node: ast.expr) -> bool:
    """Tell an expression for PyTorch's version: ``torch.__version__``, ``TORCH_VERSION``."""
    parts = descend(node)
    words = [str(getattr(part, "attr", getattr(part, "id", ""))).lower() for part in parts]
    return any("torch_version" in word for word in words) or {"torch", "__version__"} <= {*words}


def _literal(node: ast.expr) -> str:
    """Return the version that an expression states, itself or for a parser; or nothing."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        node = node.args[0]
    value = getattr(node, "value", None)
    return value if isinstance(value, str) else ""


def _is_old(version: str) -> bool:
    found = _VERSION.match(version)
    return found is not None and (int(found[1]), int(found[2])) < _OLDEST
