"""Where a device's literal stands: a default, a call of ``torch.device`` with more than a type."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.python import repair
from tpu_audit.rules.python.choices import depends_on_availability
from tpu_audit.rules.python.devices import SinkKind
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.python.possible import Via
from tpu_audit.rules.python.scopes import default_of
from tpu_audit.rules.python.walk import descend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Applicability, Fix
    from tpu_audit.rules.python.devices import DeviceSink
    from tpu_audit.rules.python.module import Module
    from tpu_audit.rules.python.possible import Possible

_HOLDERS = frozenset({"field", "Field", "Option", "Argument", "option", "argument", "add_argument"})
_OWN_DEVICES = frozenset(
    {
        *("ctranslate2", "faster_whisper", "whisperx", "onnxruntime", "tensorrt", "xgboost"),
        *("lightgbm", "catboost", "paddle", "mxnet", "warp", "openmm", "taichi", "mindspore"),
    }
)
"""Packages that take ``"cuda"`` for a device of their own, and know no TPU."""
_PYTORCH = frozenset(
    {
        *("torch", "transformers", "diffusers", "accelerate", "lightning", "pytorch_lightning"),
        *("timm", "torchvision", "torchaudio", "sentence_transformers", "peft", "trl"),
    }
)
_FRAMEWORKS = _OWN_DEVICES | {"jax", "flax", "tensorflow"}
_FLAG = re.compile(r"(?<!multi)(?:^|_)(?:cuda|gpus?)(?:_|$)", re.IGNORECASE)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_NAMESPACES = frozenset({"dict", "Namespace", "SimpleNamespace", "update", "setdefault"})
_OF_CUDA = re.compile(r"(?:cuda|nvidia)\w*(?:accelerator|platform|backend|runtime)", re.IGNORECASE)
"""Classes that stand for CUDA in a library that has others beside."""

KINDS = (
    *(SinkKind.DEVICE, SinkKind.TO, SinkKind.KEYWORD, SinkKind.DEFAULT),
    *(SinkKind.ASSIGNED, SinkKind.ENTRY),
)
"""Where a literal counts as a device."""
OVERRIDABLE = frozenset({Via.DEFAULT, Via.FIELD, Via.OPTION})
"""How values come that a caller can replace: the rule on defaults reports these."""


def reaches_nothing(sink: DeviceSink, module: Module) -> bool:
    """Tell a device that no rule on literals reports: never made, not PyTorch's, or another's."""
    if module.reach(sink.node).dead or is_foreign(module) or is_compared(sink.call, module):
        return True
    return has_owner(sink, module)


def is_test_data(sink: DeviceSink, module: Module) -> bool:
    """Tell an entry of a table in a test."""
    return sink.kind is SinkKind.ENTRY and module.context(sink.node).test


def says_cuda(node: ast.expr) -> bool:
    """Tell whether a string names CUDA itself, rather than by a variable in it."""
    parts = (part for part in descend(node) if isinstance(part, ast.Constant))
    return any("cuda" in str(part.value) for part in parts)


def is_of_cuda(node: ast.AST, module: Module) -> bool:
    """Tell whether code is in a class for CUDA alone, which nothing picks on a TPU.

    So in one that stands for another framework: JAX's devices are none of PyTorch's.
    """
    owner = module.classes.enclosing(node)
    return owner is not None and (
        owner.name.lower() in _FRAMEWORKS or _OF_CUDA.search(owner.name) is not None
    )


def has_owner(sink: DeviceSink, module: Module) -> bool:
    """Tell a device that is made to load to, or to be set: the rules on those calls say more."""
    holder = module.parent(sink.call) if sink.call is not None else None
    if isinstance(holder, ast.keyword):
        return holder.arg == "map_location"
    return isinstance(holder, ast.Call) and module.is_named(holder.func, "torch.cuda.set_device")


def is_stored(sink: DeviceSink) -> bool:
    """Tell a device that is kept under a name: where it goes from there is not known."""
    if sink.kind in {SinkKind.ASSIGNED, SinkKind.ENTRY} or sink.call is None:
        return True
    callee = sink.call.func
    return getattr(callee, "attr", getattr(callee, "id", "")) in _NAMESPACES


def is_fallback(possible: Possible, module: Module) -> bool:
    """Tell what is taken where nothing is given: ``device or "cuda"``, ``get(key, "cuda")``."""
    if possible.via in {Via.CONFIG, Via.ENVIRONMENT}:
        return True
    node: ast.expr = device_call(possible.node, module) or possible.node
    parent = module.parent(node)
    if isinstance(parent, ast.BoolOp):
        return isinstance(parent.op, ast.Or) and parent.values[0] is not node
    if not isinstance(parent, ast.IfExp) or not isinstance(parent.test, ast.Compare):
        return False
    return any(getattr(side, "value", 0) is None for side in parent.test.comparators)


def is_flagged(node: ast.expr, module: Module) -> bool:
    """Tell ``"cuda" if self.use_gpu else "cpu"`` where another file sets the flag.

    By its user, or by asking whether there is CUDA: then a TPU is left to the CPU instead.
    """
    child: ast.AST = node
    parent = module.parent(node)
    while parent is not None and not isinstance(parent, _DEFINITIONS):
        if isinstance(parent, ast.If | ast.IfExp):
            body = parent.body if isinstance(parent.body, list) else [parent.body]
            if child in body and _is_far_flag(parent.test, module):
                return True
        child, parent = parent, module.parent(parent)
    return False


def _is_far_flag(test: ast.expr, module: Module) -> bool:
    word = getattr(test, "attr", getattr(test, "id", ""))
    return (
        isinstance(test, ast.Name | ast.Attribute)
        and _FLAG.search(word) is not None
        and not any(possible.value for possible in module.value(test))
    )


def device_call(literal: ast.expr, module: Module) -> ast.Call | None:
    """Return the ``torch.device(...)`` that is made of a literal."""
    parent = module.parent(literal)
    if isinstance(parent, ast.keyword):
        parent = module.parent(parent) if parent.arg in {"type", "device"} else None
    elif isinstance(parent, ast.Call) and literal not in parent.args[:1]:
        return None
    if isinstance(parent, ast.Call) and module.is_named(parent.func, "torch.device"):
        return parent
    return None


def names_index(call: ast.Call) -> bool:
    """Tell whether a call ``torch.device(type, index)`` has an index, by place or keyword."""
    return len(call.args) > 1 or keyword(call, "index") is not None


def by_keyword(call: ast.Call) -> bool:
    """Tell whether a call is ``torch.device(type=...)``."""
    return keyword(call, "type") is not None


def is_compared(call: ast.Call | None, module: Module) -> bool:
    """Tell ``device == torch.device("cuda")`` and ``torch.device("cuda").type``: they only ask."""
    parent = module.parent(call) if call is not None else None
    if isinstance(parent, ast.Attribute):
        return parent.attr == "type" and module.is_named(call.func, "torch.device")  # type: ignore[union-attr] # it has a parent
    return isinstance(parent, ast.Compare)


def only_compared(sink: DeviceSink, module: Module) -> bool:
    """Tell a kind of device that the file keeps to compare with, and to show."""
    statement = module.parent(sink.node)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    uses = module.index.names[statement.targets[0].id]
    reads = [module.parent(use) for use in uses if isinstance(use.ctx, ast.Load)]
    return bool(reads) and all(isinstance(at, ast.Compare | ast.FormattedValue) for at in reads)


def is_candidate(possible: Possible, module: Module) -> bool:
    """Tell an entry of ``("cuda", "xpu", "hpu")``, from which the code takes what is there."""
    listed = module.parent(possible.node)
    if not isinstance(listed, ast.Tuple | ast.List):
        return False
    kinds = {str(getattr(one, "value", "")) for one in listed.elts}
    return bool(kinds & {"xpu", "hpu", "npu", "mps", "mlu"})


def is_taken_back(possible: Possible, module: Module) -> bool:
    """Tell a device for which the CPU is put where CUDA turns out not to be available.

    By an ``if not torch.cuda.is_available():`` further down that assigns or returns another.
    """
    statement: ast.AST | None = module.statement(possible.node)
    while isinstance(statement, ast.stmt) and not isinstance(statement, _DEFINITIONS):
        block = module.index.block(statement)
        below = block[block.index(statement) + 1 :] if statement in block else []
        if any(isinstance(one, ast.If) and _takes_back(one, module) for one in below):
            return True
        statement = module.parent(statement)
    return False


def _takes_back(later: ast.If, module: Module) -> bool:
    test = later.test
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    returned = any(isinstance(one, ast.Assign | ast.Return) for one in later.body)
    return returned and any(
        module.truth(part) is True and depends_on_availability(module, part) for part in parts
    )


def is_default(literal: ast.expr, module: Module) -> bool:
    """Tell whether a literal is what a parameter, a field or an option has unless told."""
    node: ast.expr = device_call(literal, module) or literal
    parent = module.parent(node)
    while isinstance(parent, ast.IfExp | ast.BoolOp | ast.keyword | ast.Call):
        if isinstance(parent, ast.Call) and not _holds_default(parent, node):
            return False
        node = parent if isinstance(parent, ast.expr) else node
        parent = module.parent(parent)
    if isinstance(parent, ast.AnnAssign):
        return isinstance(module.parent(parent), ast.ClassDef)
    return isinstance(parent, ast.arguments) or _is_option(node)


def _holds_default(call: ast.Call, node: ast.expr) -> bool:
    word = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if word == "set_defaults":
        return True
    return word in _HOLDERS and (keyword(call, "default") is node or node in call.args[:1])


def _is_option(node: ast.expr) -> bool:
    """Tell whether climbing ended at a call that declares an option."""
    if not isinstance(node, ast.Call):
        return False
    word = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return word in {"set_defaults", "add_argument", "option", "argument"}


def parameters(module: Module) -> Iterator[tuple[ast.arg, ast.expr]]:
    """Iterate over parameters with a default."""
    functions: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda] = []
    functions += module.index.of(ast.FunctionDef)
    functions += module.index.of(ast.AsyncFunctionDef)
    functions += module.index.of(ast.Lambda)
    for arguments in (function.args for function in functions):
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            default = default_of(arguments, argument)
            if default is not None:
                yield argument, default


def has_own_devices(module: Module) -> bool:
    """Tell whether a file's device strings may go to a package that is not PyTorch's."""
    return bool(module.libraries.roots & _OWN_DEVICES)


def is_foreign(module: Module) -> bool:
    """Tell whether a file is another framework's: it imports that and nothing of PyTorch's."""
    libraries = module.libraries
    return libraries.is_jax or (has_own_devices(module) and not libraries.roots & _PYTORCH)


def over_literal(literal: ast.expr, module: Module, level: Applicability) -> Fix | None:
    """Write the accelerator's device over a literal, or over the ``torch.device`` made of it."""
    if has_own_devices(module):
        return None
    call = device_call(literal, module)
    if call is None:
        return repair.fix(module, level, module.edit(literal, repair.device_string(module)))
    text = repair.fitted(module, call, repair.device(module))
    return repair.fix(module, level, module.edit(call, text))
