"""How much an import counts: needed to start, needed on some way, or optional."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, TypeGuard

from tpu_audit.rules.python.walk import descend
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CAUGHT = frozenset({"Exception", "BaseException", "ImportError", "ModuleNotFoundError", "OSError"})
_ASKS = re.compile(
    r"available|installed|find_spec|^_?(has|have|with|use|using|enable|supports?)_|_found$"
    r"|importable|is_package|_exists$",
    re.IGNORECASE,
)
"""Names in tests that ask whether a library is there, or wanted."""
_NICKNAMES = {
    "bitsandbytes": ("bnb", "4bit", "8bit", "paged"),
    "flash_attn": ("fa2", "fa3", "fa"),
    "xformers": ("xformer", "memory"),
    "auto_gptq": ("gptq",),
    "tensorrt": ("trt",),
    "torch_tensorrt": ("trt", "tensorrt"),
    "transformer_engine": ("fp8", "te"),
    "pynvml": ("nvml",),
    "gptqmodel": ("awq", "gptq"),
    "deepspeed": ("zero3", "zero", "ds"),
    "onnxruntime": ("ort",),
    "modelopt": ("qat", "ptq", "quantize", "nvidiamodelopt"),
}
_SHORT = frozenset({"bnb", "awq", "fa2", "fa3", "trt", "qat", "ptq"})
_COMMON = frozenset({"torch", "auto", "cuda", "attn", "conv1d", "transformer", "gpu", "lib", "ext"})
"""Words of package names that say nothing."""


def import_severity(
    module: Module, node: ast.stmt | ast.Call, packages: tuple[str, ...]
) -> Severity:
    """Return what an import of a library counts that a TPU host lacks.

    An error where the file needs it to be imported at all, or in what runs each step; a warning
    in a function that is called for; info where the file goes on without it.
    """
    stems = frozenset(part for name in packages for part in _stems(name))
    if any(_is_optional(module, child, parent, stems) for child, parent in _above(module, node)):
        return Severity.INFO
    if _tries(node) or (not module.is_script and _is_named(module, stems)):
        return Severity.INFO
    function = module.context(node).function
    if function is not None:
        return _in_function(module, function, stems)
    return Severity.WARNING if _conditional(module, node) else Severity.ERROR


def is_own(module: Module, package: str) -> bool:
    """Tell whether a file is of the library itself, which imports its own parts.

    A script is if it stands further down than at the top, where a clone's own scripts stand.
    """
    folders = module.path.replace("\\", "/").split("/")[:-1]
    if module.is_script:
        folders = folders[:-1]
    if package.partition(".")[0] not in folders:
        return False
    sources = module.index.of(ast.ImportFrom)
    return any(
        node.level or (node.module or "").startswith(f"{package.partition('.')[0]}.")
        for node in sources
    )


def only_asks(node: ast.stmt | ast.Call) -> bool:
    """Tell ``is_package_available("flash_attn")``, which may import, but uses nothing."""
    if not isinstance(node, ast.Call):
        return False
    return _ASKS.search(getattr(node.func, "attr", getattr(node.func, "id", ""))) is not None


def is_optional(module: Module, node: ast.AST, *packages: str) -> bool:
    """Tell whether code runs only where a library is there, or where it was asked for.

    By tests for it, or because the function, class or file around is named after it.
    """
    stems = frozenset(part for name in packages for part in _stems(name))
    file = module.path.replace("\\", "/").rpartition("/")[2]
    return _names(file, stems) or any(
        _is_optional(module, child, parent, stems) for child, parent in _above(module, node)
    )


def _is_optional(module: Module, child: ast.AST, parent: ast.AST, stems: frozenset[str]) -> bool:
    """Tell whether ``parent`` lets what is in ``child`` fail, or asks for the library first."""
    if isinstance(parent, ast.Try):
        again = isinstance(child, ast.ExceptHandler) and _imports(parent.body, stems)
        optional = again or (child in parent.body and _survives(parent))
    elif isinstance(parent, ast.With | ast.AsyncWith):
        optional = _suppresses(parent)
    elif isinstance(parent, ast.If | ast.IfExp | ast.BoolOp):
        optional = _asks(parent, child, stems)
    elif isinstance(parent, (*_FUNCTIONS, ast.ClassDef)):
        marks = (_mentions(decorator, stems) for decorator in parent.decorator_list)
        optional = _names(parent.name, stems) or any(marks)
    else:
        optional = False
    return optional or (isinstance(child, ast.stmt) and _left_before(module, child, stems))


def _tries(node: ast.stmt | ast.Call) -> bool:
    """Tell ``cp, has_cp = optional_import("cupy")`` and its like, which do not raise."""
    word = getattr(node.func, "attr", getattr(node.func, "id", "")) if _is_call(node) else ""
    return re.search(r"optional|lazy|try|safe|maybe", word, re.IGNORECASE) is not None


def _is_call(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call)


def _is_named(module: Module, stems: frozenset[str]) -> bool:
    """Tell a package's file that is named as the library: what imports it needs the library."""
    file = module.path.replace("\\", "/").rpartition("/")[2].lower()
    inner = any(node.level for node in module.index.of(ast.ImportFrom))
    return inner and file.removesuffix(".py") in stems


def _in_function(
    module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, stems: frozenset[str]
) -> Severity:
    if _names(module.path.replace("\\", "/").rpartition("/")[2], stems):
        return Severity.INFO
    return Severity.ERROR if _runs(module, function, set()) else Severity.WARNING


def _runs(
    module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, seen: set[ast.AST]
) -> bool:
    """Tell whether the file itself calls a function at its top level, or in what runs each step."""
    if function in seen:
        return False
    seen.add(function)
    if module.context(function).function is None and function.name in {"main", "forward"}:
        return True
    for site in module.calls.sites(function):
        if module.reach(site).dead:
            continue
        caller = module.context(site).function
        if caller is None or _runs(module, caller, seen):
            return True
    return False


def _above(module: Module, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    child, parent = node, module.parent(node)
    while parent is not None:
        yield child, parent
        child, parent = parent, module.parent(parent)


def _imports(statements: list[ast.stmt], stems: frozenset[str]) -> bool:
    """Tell whether statements import the library: where that failed it is installed, or named."""
    return any(
        isinstance(statement, ast.Import | ast.ImportFrom)
        and any(_names(alias.name, stems) for alias in statement.names)
        for statement in statements
    )


def _survives(block: ast.Try) -> bool:
    """Tell whether a failing import is caught, and the program goes on."""
    return any(_catches(handler) and not _gives_up(handler.body) for handler in block.handlers)


def _catches(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or any(
        getattr(n, "attr", getattr(n, "id", "")) in _CAUGHT for n in descend(handler.type)
    )


def _gives_up(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, ast.Raise):
        return True
    call = last.value if isinstance(last, ast.Expr) else None
    name = (
        getattr(call.func, "attr", getattr(call.func, "id", ""))
        if isinstance(call, ast.Call)
        else ""
    )
    return name in {"exit", "_exit", "quit", "skip"}


def _suppresses(block: ast.With | ast.AsyncWith) -> bool:
    """Tell ``with suppress(ImportError)``, ``try_import()`` and their like."""
    calls = (item.context_expr for item in block.items)
    words = (
        getattr(c.func, "attr", getattr(c.func, "id", "")) for c in calls if isinstance(c, ast.Call)
    )
    return any("suppress" in word or "import" in word for word in words)


def _asks(parent: ast.If | ast.IfExp | ast.BoolOp, child: ast.AST, stems: frozenset[str]) -> bool:
    if isinstance(parent, ast.BoolOp):
        before = parent.values[: parent.values.index(child)] if child in parent.values else []
        return any(_mentions(value, stems) for value in before)
    return child is not parent.test and _mentions(parent.test, stems)


def _left_before(module: Module, statement: ast.stmt, stems: frozenset[str]) -> bool:
    """Tell whether an earlier ``if`` or a call of the block leaves where the library is missing."""
    for earlier in module.index.block(statement):
        if earlier is statement:
            return False
        if isinstance(earlier, ast.If) and isinstance(earlier.body[-1], ast.Return | ast.Raise):
            if _mentions(earlier.test, stems):
                return True
        elif isinstance(earlier, ast.Expr) and isinstance(earlier.value, ast.Call):
            name = getattr(earlier.value.func, "id", getattr(earlier.value.func, "attr", ""))
            if name in {"requires_backends", "check_dependency", "require_version", "importorskip"}:
                return True
    return False


def _mentions(node: ast.AST, stems: frozenset[str]) -> bool:
    """Tell whether a test asks for a library or names this one."""
    for inner in descend(node):
        word = getattr(inner, "attr", getattr(inner, "id", ""))
        if not word and isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            if _names(inner.value, stems):
                return True
        elif word and (_ASKS.search(word) or _names(word, stems)):
            return True
    return False


def _names(text: str, stems: frozenset[str]) -> bool:
    """Tell whether one of the words of a name is a stem, or begins with one."""
    return any(
        word == stem or (word.startswith(stem) and (len(stem) > 3 or stem in _SHORT))  # noqa: PLR2004 - too short to tell
        for word in re.split(r"[^a-z0-9]+", text.lower())
        for stem in stems
    )


def _stems(name: str) -> tuple[str, ...]:
    """Return words by which other names refer to a package."""
    root = name.partition(".")[0].lower()
    words = tuple(word for word in root.split("_") if word not in _COMMON)
    return (*words, *_NICKNAMES.get(root, ()))


def _conditional(module: Module, node: ast.AST) -> bool:
    """Tell whether an import at the top level stands under some other condition."""
    return any(
        isinstance(parent, ast.If) and not _is_main(parent) for _, parent in _above(module, node)
    )


def _is_main(node: ast.If) -> bool:
    left = node.test.left if isinstance(node.test, ast.Compare) else None
    return getattr(left, "id", "") == "__name__"
