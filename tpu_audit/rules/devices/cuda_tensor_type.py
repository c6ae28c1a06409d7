"""TPA106: ``torch.cuda.FloatTensor`` and its like."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.arguments import renamed
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Edit, Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_DEVICE = 'torch.accelerator.current_accelerator() or torch.device("cpu")'
_DTYPES = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool",
}
_TYPES = tuple(f"torch.cuda.{kind}Tensor" for kind in _DTYPES)
_TEXT = re.compile(r"torch\.cuda\.\w+Tensor")
_ASKS = frozenset({"isinstance", "issubclass"})

RULE = Rule(
    code="TPA106",
    name="cuda-tensor-type",
    severity=Severity.ERROR,
    words=("cuda",),
    docs=Docs(
        what="Finds `torch.cuda.FloatTensor` and the other tensor types of CUDA, and their names "
        "in strings.",
        why="There are no tensor types of a TPU. Making or casting to a CUDA type raises "
        '"Torch not compiled with CUDA enabled"; a comparison with one is false.',
        example="x = x.type(torch.cuda.FloatTensor)",
        instead='device = torch.accelerator.current_accelerator() or torch.device("cpu")\n'
        "x = x.to(device, torch.float32)",
        fix_safety="Unsafe: a host without an accelerator runs on the CPU where it raised before.",
        references=(
            "https://docs.pytorch.org/docs/stable/tensors.html",
            "https://docs.pytorch.org/docs/stable/generated/torch.set_default_device.html",
        ),
    ),
    valid=(
        Case("from .imports import *\nt = LongTensor([1])\n"),
        Case(
            "from typing import Union\nimport torch\n"
            "Bools = Union[torch.BoolTensor, torch.cuda.BoolTensor]\n"
        ),
        Case("import torch\nx = x.type(torch.FloatTensor)\n"),
        Case('NAMES = {"torch.cuda.FloatTensor": 4}\n# cuda\n'),
        Case("import torch\nif x.is_cuda:\n    y = torch.cuda.FloatTensor(3)\n"),
        Case("from other import cuda\ny = cuda.FloatTensor(3)\n"),
        Case('"""Returns a torch.cuda.FloatTensor."""\n'),
    ),
    invalid=(
        Case(
            'import torch\nx = batch["img"].type(torch.cuda.FloatTensor)\n',
            lines=(2,),
            columns=(23,),
            fixed=f'import torch\nx = batch["img"].to({_DEVICE}, torch.float32)\n',
        ),
        Case(
            "import torch\nx = torch.cuda.LongTensor([1, 2])\n",
            lines=(2,),
            fixed=f"import torch\nx = torch.tensor([1, 2], dtype=torch.int64, device={_DEVICE})\n",
        ),
        Case(
            "import torch\ntorch.set_default_tensor_type(torch.cuda.FloatTensor)\n",
            lines=(2,),
            fixed=f"import torch\ntorch.set_default_device({_DEVICE})\n",
        ),
        Case(
            'import torch\nx = x.type("torch.cuda.HalfTensor")\n',
            lines=(2,),
            fixed=f"import torch\nx = x.to({_DEVICE}, torch.float16)\n",
        ),
        Case(
            "from torch import cuda\nkinds = [isinstance(x, cuda.FloatTensor)]\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "import torch\nif torch.cuda.is_available():\n    import torch.cuda as backend\n"
            "else:\n    import torch as backend\nbuf = backend.FloatTensor(4, 4)\n",
            lines=(6,),
        ),
        Case(
            "import torch\nFT = torch.cuda.FloatTensor if torch.cuda.is_available() "
            "else torch.FloatTensor\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case('x = x.type("torch.cuda.{}Tensor".format(kind))\n', lines=(1,)),
        Case('import torch\nok = x.type() == "torch.cuda.FloatTensor"\n', lines=(2,)),
    ),
)


@RULE.use(*_TYPES)
def check_type(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find uses of the types."""
    if _is_annotation(node, module):
        return
    choice = _choice(node, module)
    if choice is not None:
        yield module.hit(
            choice,
            f"`{name}` is never chosen on a TPU: tensors stay silently on the CPU",
            "give a dtype and the accelerator's device",
            severity=Severity.WARNING,
            span=module.span(node),
        )
        return
    yield from _hit(node, name, module)


def _is_annotation(node: ast.expr, module: Module) -> bool:
    """Tell a type in ``Union[torch.Tensor, torch.cuda.FloatTensor]``: the class itself exists."""
    parent = module.parent(node)
    if isinstance(parent, ast.Tuple):
        node, parent = parent, module.parent(parent)
    return isinstance(parent, ast.Subscript) and parent.slice is node


@RULE.string("torch.cuda.")
def check_text(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find the types' names where a type or a comparison takes them."""
    text, parent = str(constant.value), module.parent(constant)
    if isinstance(parent, ast.Attribute) and parent.attr == "format":
        made = module.parent(parent)
        cast = module.parent(made) if made is not None else None
        if isinstance(cast, ast.Call) and _is_cast(cast, module):
            yield from _hit(constant, text, module)
        return
    if _TEXT.fullmatch(text) is None or not isinstance(
        parent, ast.Call | ast.Compare | ast.Assign | ast.IfExp
    ):
        return
    if isinstance(parent, ast.Call) and not _is_cast(parent, module):
        return
    yield from _hit(constant, text, module)


def _hit(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    parent = module.parent(node)
    asked = isinstance(parent, ast.Compare) or (
        isinstance(parent, ast.Call) and getattr(parent.func, "id", "") in _ASKS
    )
    yield module.hit(
        node,
        f"no tensor is a `{name}` on a TPU"
        if asked
        else f"`{name}` raises on a TPU: PyTorch is built without CUDA there",
        "ask for `device.type` and `dtype`"
        if asked
        else "give a dtype and the accelerator's device",
        fix=None if asked else _fix(node, name, module),
        severity=Severity.WARNING if asked else None,
    )


def _choice(node: ast.expr, module: Module) -> ast.IfExp | None:
    """Return the choice by availability that has a type in the arm that no TPU takes."""
    parent = module.parent(node)
    if not isinstance(parent, ast.IfExp) or parent.test is node:
        return None
    reach = module.reach(node)
    asks = reach.dead and any(
        isinstance(part, ast.Call) and module.is_named(part.func, "torch.cuda.is_available")
        for part in descend(parent.test)
    )
    return parent if asks else None


def _is_cast(call: ast.Call, module: Module) -> bool:
    word = getattr(call.func, "attr", "")
    return word == "type" or module.is_named(call.func, "torch.set_default_tensor_type")


def _fix(node: ast.expr, name: str, module: Module) -> Fix | None:
    kind = name.rpartition(".")[2].removesuffix("Tensor")
    parent = module.parent(node)
    if kind not in _DTYPES or not isinstance(parent, ast.Call) or parent.keywords:
        return None
    edit = _rewritten(node, parent, kind, module)
    return None if edit is None else repair.fix(module, Applicability.UNSAFE, edit)


def _rewritten(node: ast.expr, call: ast.Call, kind: str, module: Module) -> Edit | None:
    """Return the edit of a call that makes or casts; None where that is not known."""
    torch, device = repair.torch_name(module), repair.device(module)
    dtype = f"{torch}.{_DTYPES[kind]}"
    if module.is_named(call.func, "torch.set_default_tensor_type"):
        text = f"{torch}.set_default_device({device})"
        return module.edit(call, text) if kind == "Float" else None
    if call.func is node:
        made = _made(call, module)
        text = f"{torch}.{made}, dtype={dtype}, device={device})"
        return module.edit(call, text) if made else None
    if isinstance(call.func, ast.Attribute) and call.func.attr == "type" and len(call.args) == 1:
        return renamed(call, f"to({device}, {dtype})", module)
    return None


def _made(call: ast.Call, module: Module) -> str | None:
    arguments = ", ".join(map(module.code, call.args))
    if len(call.args) == 1 and isinstance(call.args[0], ast.List | ast.ListComp):
        return f"tensor({arguments}"
    sizes = (isinstance(a, ast.Constant) and type(a.value) is int for a in call.args)
    return f"empty({arguments}" if call.args and all(sizes) else None
