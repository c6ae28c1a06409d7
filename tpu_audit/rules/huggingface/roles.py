"""What a constant is given as: the setting's name, whatever way it is written."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Edit
from tpu_audit.rules.python.options import destination

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module

_FIELDS = frozenset({"field", "Field", "HfArg", "Option", "Argument"})
_BY_KEY = frozenset({"setdefault", "get", "pop", "getenv", "setattr"})

TRAINING = frozenset(
    {
        *("output_dir", "per_device_train_batch_size", "per_device_eval_batch_size"),
        *("gradient_accumulation_steps", "num_train_epochs", "logging_steps", "save_steps"),
        *("warmup_steps", "warmup_ratio", "lr_scheduler_type", "eval_strategy", "report_to"),
        *("evaluation_strategy", "save_strategy", "save_total_limit", "bf16", "optim"),
    }
)
"""Arguments of transformers' trainer that tell it."""


def role(module: Module, node: ast.expr) -> str:
    """Return the name that ``node`` is a value for; empty where it is no value of a setting.

    ``x`` for ``f(x=node)``, ``{"x": node}``, ``x = node``, ``a.x = node``, ``a["x"] = node``, for
    defaults of parameters, fields and options, in an arm of a choice too. Comparisons, items of
    lists and other arguments have no role.
    """
    child: ast.AST = node
    parent = module.parent(node)
    while isinstance(parent, ast.IfExp | ast.BoolOp) and child is not getattr(parent, "test", None):
        child, parent = parent, module.parent(parent)
    return _in_parent(module, child, parent)


def _in_parent(module: Module, child: ast.AST, parent: ast.AST | None) -> str:
    if isinstance(parent, ast.keyword):
        name = _of_keyword(module, parent)
    elif isinstance(parent, ast.Dict):
        name = _key_of(parent, child)
    elif isinstance(parent, ast.Assign | ast.AnnAssign):
        name = _target(parent.targets[0] if isinstance(parent, ast.Assign) else parent.target)
    elif isinstance(parent, ast.arguments):
        name = _parameter(parent, child)
    else:
        name = _of_argument(module, parent, child) if isinstance(parent, ast.Call) else ""
    return name


def _of_keyword(module: Module, keyword: ast.keyword) -> str:
    call = module.parent(keyword)
    if keyword.arg != "default" or not isinstance(call, ast.Call):
        return keyword.arg or ""
    if _word(call) in _FIELDS:
        return role(module, call)
    return destination(call)


def _of_argument(module: Module, call: ast.Call, node: ast.AST) -> str:
    """Return the name for ``set_x(node)``, ``d.setdefault("x", node)`` and ``Field(node)``."""
    word = _word(call)
    if node not in call.args:
        return ""
    if word in _FIELDS and node is call.args[0]:
        return role(module, call)
    if word in _BY_KEY and node is not call.args[0]:
        texts = [a.value for a in call.args if isinstance(a, ast.Constant)]
        return str(texts[0]) if texts else ""
    return word.removeprefix("set_") if word.startswith("set_") else ""


def _key_of(node: ast.Dict, value: ast.AST) -> str:
    for key, item in zip(node.keys, node.values, strict=True):
        if item is value and isinstance(key, ast.Constant):
            return str(key.value)
    return ""


def _target(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        return str(node.slice.value) if isinstance(node.slice, ast.Constant) else ""
    return getattr(node, "attr", getattr(node, "id", ""))


def _parameter(arguments: ast.arguments, default: ast.AST) -> str:
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return next((argument.arg for argument, value in pairs if value is default), "")


def _word(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def guarded(module: Module, node: ast.AST, pattern: re.Pattern[str]) -> bool:
    """Tell whether a test around ``node``, within its function, matches ``pattern``."""
    child, parent = node, module.parent(node)
    while parent is not None and not isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
        test = parent.test if isinstance(parent, ast.If | ast.IfExp) else None
        if test is not None and child is not test and pattern.search(module.code(test)):
            return True
        child, parent = parent, module.parent(parent)
    return False


def callee(module: Module, node: ast.AST) -> str:
    """Return the last name of what is called with a keyword; empty where there is no call."""
    call = module.parent(node)
    return _word(call) if isinstance(call, ast.Call) else ""


def enabled(module: Module, name: str) -> Iterator[tuple[ast.expr, ast.expr, ast.keyword | None]]:
    """Iterate over places that switch a setting on: the place, its value, the keyword.

    ``f(x=True)``, ``{"x": True}``, ``a.x = True``; a value counts that is true on a TPU, as
    ``not torch.cuda.is_bf16_supported()`` is.
    """
    for keyword in module.index.keywords.get(name, ()):
        if is_on(module, keyword.value):
            yield keyword.value, keyword.value, keyword
    for constant in (
        module.strings if f'"{name}"' in module.text or f"'{name}'" in module.text else ()
    ):
        value = entry(module, constant) if constant.value == name else None
        if value is not None and is_on(module, value):
            yield constant, value, None
    for attribute in module.index.attributes.get(name, ()):
        statement = module.parent(attribute)
        stored = isinstance(attribute.ctx, ast.Store) and isinstance(statement, ast.Assign)
        if stored and isinstance(statement, ast.Assign) and is_on(module, statement.value):
            yield attribute, statement.value, None


def entry(module: Module, key: ast.Constant) -> ast.expr | None:
    """Return what stands under a key of a dict display, or is put there; None otherwise."""
    parent = module.parent(key)
    if isinstance(parent, ast.Dict):
        pairs = zip(parent.keys, parent.values, strict=True)
        return next((value for other, value in pairs if other is key), None)
    if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
        statement = module.parent(parent)
        return statement.value if isinstance(statement, ast.Assign) else None
    return None


def is_on(module: Module, node: ast.expr) -> bool:
    """Tell whether a switch is on for a TPU: by a constant, or by a test for devices."""
    truth = module.truth(node)
    if truth is not None:
        return truth
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        operand = node.operand
        word = _word(operand) if isinstance(operand, ast.Call) else ""
        return word in {"is_bfloat16_supported", "is_bf16_supported"}
    return any(p.value is True and not module.reach(p.node).dead for p in module.value(node))


def renamed(module: Module, keyword: ast.keyword, name: str) -> Edit:
    """Return the edit that writes another name for a keyword argument."""
    start, _ = module.byte_range(keyword)
    return Edit(start=start, end=start + len((keyword.arg or "").encode()), text=name)


def without(module: Module, keyword: ast.keyword) -> Edit | None:
    """Return the edit that takes a keyword argument out of its call, with its comma."""
    call = module.parent(keyword)
    if not isinstance(call, ast.Call):
        return None
    arguments = sorted([*call.args, *call.keywords], key=lambda a: module.byte_range(a)[0])
    place = arguments.index(keyword)
    start, end = module.byte_range(keyword)
    if place + 1 < len(arguments):
        return Edit(start=start, end=module.byte_range(arguments[place + 1])[0], text="")
    if place:
        return Edit(start=module.byte_range(arguments[place - 1])[1], end=end, text="")
    return Edit(start=start, end=end, text="")


def text_edit(module: Module, node: ast.expr, text: str) -> Edit:
    """Return the edit that writes another string literal, in the quotes of the old one."""
    quote = module.code(node).lstrip("rRuUbB")[:1]
    return module.edit(node, f"{quote}{text}{quote}")


def is_default(node: ast.expr, module: Module) -> bool:
    """Tell whether a caller or a user may give another value."""
    parent: ast.AST | None = module.parent(node)
    while isinstance(parent, ast.expr):
        parent = module.parent(parent)
    if isinstance(parent, ast.keyword):
        return parent.arg == "default"
    return isinstance(parent, ast.arguments | ast.AnnAssign)
