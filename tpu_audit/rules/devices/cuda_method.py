"""TPA103: ``x.cuda()``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.devices.literals import is_flagged
from tpu_audit.rules.edits import Applicability, Edit
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.arguments import fits, method_name, prepended
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_ADVICE = "write `.to(device)` with the accelerator's device"
_PARAMETERS = ("device", "non_blocking", "memory_format")
_ABOUT = frozenset({"wraps", "update_wrapper", "signature", "hasattr", "isinstance", "partial"})
"""Functions that take a method without a call of it."""

RULE = Rule(
    code="TPA103",
    name="cuda-method",
    severity=Severity.ERROR,
    words=("cuda",),
    docs=Docs(
        what="Finds `.cuda()` on tensors and modules.",
        why="PyTorch for TPUs is built without CUDA: the call raises "
        '"Torch not compiled with CUDA enabled".',
        example="model = model.cuda()\nx = x.cuda(non_blocking=True)",
        instead='device = torch.accelerator.current_accelerator() or torch.device("cpu")\n'
        "model = model.to(device)\nx = x.to(device, non_blocking=True)",
        fix_safety="Safe where the call names no device; unsafe where it names an index, since a "
        "process on a TPU has one device.",
        references=("https://docs.pytorch.org/docs/stable/accelerator.html",),
    ),
    valid=(
        Case('import torch\nx = x.to("cpu")\n'),
        Case("import barracuda\nbarracuda.cuda()\n"),
        Case("from numba import cuda\nimport numba\nnumba.cuda()\n"),
        Case("import torch\nif torch.cuda.is_available():\n    x = x.cuda()\n"),
        Case("torch.load(p, map_location=lambda s, l: s.cuda())\n"),
        Case("import torch\n@wraps(torch.nn.Module.cuda)\ndef f(x): ...\n"),
        Case("import torch\nok = hasattr(torch, 'cuda') and getattr(torch, 'cuda')\n"),
        Case('"""Call ``x.cuda()``."""\n# x.cuda()\n'),
    ),
    invalid=(
        Case(
            "import torch\nclass T:\n    def move(self, x):\n        if self.use_cuda:\n"
            "            x = x.cuda()\n        return x\n",
            lines=(5,),
            severity=Severity.WARNING,
        ),
        Case(
            "from hqq.core.quantize import HQQLinear\nfor m in model.modules():\n"
            "    if isinstance(m, HQQLinear):\n        m.cuda(device)\n",
            lines=(4,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\nmodel = build().cuda()\n",
            lines=(2,),
            columns=(17,),
            fixed="import torch\nmodel = build().to("
            'torch.accelerator.current_accelerator() or torch.device("cpu"))\n',
        ),
        Case(
            "import torch as th\nx = x.cuda(non_blocking=True)\n",
            lines=(2,),
            fixed="import torch as th\nx = x.to(th.accelerator.current_accelerator() or "
            'th.device("cpu"), non_blocking=True)\n',
        ),
        Case(
            "import torch\nx = x.cuda(device)\n",
            lines=(2,),
            fixed="import torch\nx = x.to(device)\n",
        ),
        Case("import torch\nfrom torch import nn\nmap(torch.Tensor.cuda, xs)\n", lines=(3,)),
        Case(
            "import torch\nx = (a + b).cuda()\n",
            lines=(2,),
            fixed="import torch\nx = (a + b).to(torch.accelerator.current_accelerator() or "
            'torch.device("cpu"))\n',
        ),
        Case(
            "import torch\nx = (\n    a  # one\n    .t()\n).cuda(  # two\n"
            "    None,\n    True,\n)\n",
            lines=(5,),
            fixed="import torch\nx = (\n    a  # one\n    .t()\n).to(  # two\n    "
            'torch.accelerator.current_accelerator() or torch.device("cpu"),\n'
            "    non_blocking=True,\n)\n",
        ),
        Case("import torch\nx = x.cuda(*where)\n", lines=(2,)),
        Case('getattr(model, "cuda")()\n', lines=(1,)),
        Case(
            'from operator import methodcaller\nxs = list(map(methodcaller("cuda"), xs))\n',
            lines=(2,),
        ),
        Case('move = getattr(model, "cuda")\nmove()\n', lines=(1,)),
        Case(
            "import torch\ndef test_move():\n    x.cuda()\n",
            filename="tests/test_move.py",
            lines=(3,),
            severity=Severity.INFO,
        ),
    ),
)


@RULE.method("cuda")
def check(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find calls of ``.cuda`` on anything but an imported package."""
    if module.is_imported(receiver) or not _is_move(call) or _is_location(call, module):
        return
    severity = Severity.WARNING if is_flagged(call, module) else None
    yield module.hit(
        call,
        "`.cuda()` raises on a TPU: PyTorch is built without CUDA there",
        _ADVICE,
        fix=_fix(call, module),
        severity=Severity.INFO if _is_of_other_class(receiver, module) else severity,
        span=module.method_span(call),
    )


def _is_of_other_class(receiver: ast.expr, module: Module) -> bool:
    """Tell a receiver tested for a class of another library: it may define ``cuda`` anew."""
    parent = module.parent(receiver)
    while parent is not None:
        test = parent.test if isinstance(parent, ast.If) else None
        if isinstance(test, ast.Call) and getattr(test.func, "id", "") == "isinstance":
            tested, *classes = test.args
            names = {name for one in classes for name in module.qualified(one)}
            known = names and not any(name.startswith("torch.") for name in names)
            if known and ast.dump(tested) == ast.dump(receiver) and module.is_imported(classes[0]):
                return True
        parent = module.parent(parent)
    return False


@RULE.use("torch.nn.Module.cuda", "torch.Tensor.cuda")
def check_unbound(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find ``torch.Tensor.cuda``, called or passed on as a function."""
    call = module.parent(node)
    word = getattr(call.func, "id", "") if isinstance(call, ast.Call) else ""
    if isinstance(call, ast.Call) and word not in _ABOUT:
        yield module.hit(node, f"`{name}` raises on a TPU, built without CUDA", _ADVICE)


@RULE.string("cuda")
def check_taken(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find ``move = getattr(model, "cuda")``, to be called later."""
    call = module.parent(constant)
    if isinstance(call, ast.Call) and _name(call) == "methodcaller" and constant.value == "cuda":
        yield module.hit(call, "`.cuda` raises on a TPU, built without CUDA", _ADVICE)
    if not isinstance(call, ast.Call) or call.args[1:] != [constant] or constant.value != "cuda":
        return
    holder, use = call.args[0], module.parent(call)
    called = isinstance(use, ast.Call) and use.func is call
    of_package = module.is_imported(holder) or module.is_named(holder, "torch", "torch.version")
    if _name(call) == "getattr" and not called and not of_package:
        yield module.hit(call, "`.cuda` raises on a TPU, built without CUDA", _ADVICE)


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def _is_move(call: ast.Call) -> bool:
    """Tell a tensor's or module's method from another's by its arguments."""
    return len(call.args) <= len(_PARAMETERS) and all(k.arg in _PARAMETERS for k in call.keywords)


def _is_location(call: ast.Call, module: Module) -> bool:
    """Tell ``map_location=lambda storage, place: storage.cuda()``, another rule's."""
    holder = module.parent(call)
    use = module.parent(holder) if isinstance(holder, ast.Lambda) else None
    return isinstance(use, ast.keyword) and use.arg == "map_location"


def _fix(call: ast.Call, module: Module) -> Fix | None:
    """Rename the method, and put the device where it takes one."""
    if not isinstance(call.func, ast.Attribute) or any(
        isinstance(argument, ast.Starred) for argument in call.args
    ):
        return None
    given = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "device")][:1]
    edits = [method_name(call.func, "to", module)]
    device, safe = _device(given, module)
    if not given:
        edits += filter(None, [prepended(call, device, module)])
    elif device:
        edits.append(module.edit(given[0], device))
    for argument in call.args[1:2]:
        at = module.byte_range(argument)[0]
        edits.append(Edit(start=at, end=at, text="non_blocking="))
    count = len(call.args) + len(call.keywords) + (not given)
    if not fits(call, tuple(edits), count, module):
        return None
    level = Applicability.SAFE if safe else Applicability.UNSAFE
    return repair.fix(module, level, *edits)


def _device(given: list[ast.expr], module: Module) -> tuple[str, bool]:
    """Return the device to write, and whether it is certainly the one that was meant.

    Empty where the one that is given stays.
    """
    if not given or module.code(given[0]) == "None":
        return repair.device(module), True
    if module.is_device(given[0]):
        return "", True
    return repair.device(module), False
