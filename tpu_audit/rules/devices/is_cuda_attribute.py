"""TPA111: ``x.is_cuda``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.devices.device_tests import Effect, lasting_effect
from tpu_audit.rules.edits import Applicability, Edit, Fix
from tpu_audit.rules.python.arguments import method_name
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_TIGHT = (ast.Compare, ast.Attribute, ast.BinOp, ast.Await, ast.Starred)
"""Parents that a comparison stands under in brackets."""
_SAID = {
    Effect.REJECTED: (Severity.ERROR, "`is_cuda` is false for a TPU's tensor, which is refused"),
    Effect.COPY: (
        Severity.ERROR,
        "`is_cuda` is false for a TPU's tensor: NumPy reads it without a copy to the host",
    ),
    Effect.LEFT_BEHIND: (
        Severity.ERROR,
        "`is_cuda` is false for a TPU's tensor: what meets it stays on the CPU",
    ),
    Effect.COLLAPSED: (
        Severity.ERROR,
        "`is_cuda` is false for a TPU's tensor: what meets it is made on the CPU",
    ),
    Effect.TO_HOST: (
        Severity.WARNING,
        "`is_cuda` is false for a TPU's tensor, which is copied to the host and worked on there",
    ),
    Effect.NO_AUTOCAST: (
        Severity.WARNING,
        "`is_cuda` is false for a TPU's tensor: mixed precision is off",
    ),
    Effect.WAY: (
        Severity.WARNING,
        "`is_cuda` is false for a TPU's tensor: it takes the way for a CPU",
    ),
}
_NOTE = (Severity.INFO, "`is_cuda` is false for a TPU's tensor")

RULE = Rule(
    code="TPA111",
    name="is-cuda-attribute",
    severity=Severity.WARNING,
    words=("is_cuda",),
    docs=Docs(
        what="Finds `tensor.is_cuda` and what depends on it.",
        why="It is false for a tensor on a TPU, which is then treated as on the CPU: constants "
        "stay on the host, NumPy reads device memory, functions refuse it. Where the other way "
        "is portable, the finding is a note.",
        example="if x.is_cuda:\n    kernel = kernel.cuda()\ny = conv(x, kernel)",
        instead="kernel = kernel.to(x.device)\ny = conv(x, kernel)",
        fix_safety="Unsafe: it asks for any device but the CPU, other accelerators included.",
        references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_cuda.html",),
    ),
    valid=(
        Case(
            "import torch\nwith torch.autocast('cuda' if x.is_cuda else 'cpu', enabled=False):\n"
            "    y = f(x)\n"
        ),
        Case("if not next(lm.parameters()).is_cuda:\n    lm.to(x.device)\n"),
        Case('on_host = x.device.type == "cpu"\n'),
        Case("if x.is_cuda:\n    torch.cuda.synchronize()\n"),
        Case("n = 1 if x.is_cuda else 1\n"),
        Case(
            "import torch\nclass P:\n    def __init__(self):\n        self.is_cuda = False\n"
            "    def f(self):\n        if self.is_cuda:\n            go()\n"
        ),
        Case(
            "from torch import cuda\nif not x.is_cuda and cuda.is_available():\n"
            "    raise RuntimeError\n"
        ),
        Case("from platforms import current\nif current.is_cuda():\n    go()\n"),
    ),
    invalid=(
        Case(
            "def to_numpy(t):\n    if t.is_cuda:\n        t = t.cpu()\n    return t.numpy()\n",
            lines=(2,),
            columns=(8,),
            severity=Severity.ERROR,
            fixed='def to_numpy(t):\n    if t.device.type != "cpu":\n        t = t.cpu()\n'
            "    return t.numpy()\n",
        ),
        Case(
            "if x.is_cuda:\n    kx = kx.cuda()\ny = conv(x, kx)\n",
            lines=(1,),
            severity=Severity.ERROR,
        ),
        Case("assert q.is_cuda\n", lines=(1,), severity=Severity.ERROR),
        Case(
            "if not (a.is_cuda and b.is_cuda):\n    raise ValueError\n",
            lines=(1,),
            severity=Severity.ERROR,
        ),
        Case(
            "import torch\nT = torch.cuda.LongTensor if x.is_cuda else torch.LongTensor\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "if x.dtype == half and not x.is_cuda:\n    i = sort(x)\nelse:\n    i = x.topk(k)\n",
            lines=(1,),
            severity=Severity.WARNING,
            fixed='if x.dtype == half and x.device.type == "cpu":\n    i = sort(x)\nelse:\n'
            "    i = x.topk(k)\n",
        ),
        Case(
            "if not ((a + b).is_cuda):\n    c = sort(c)\nelse:\n    c = c.topk(k)\n",
            lines=(1,),
            severity=Severity.WARNING,
            fixed='if ((a + b).device.type == "cpu"):\n    c = sort(c)\nelse:\n    c = c.topk(k)\n',
        ),
        Case("if x.is_cuda:\n    y = my_cuda_op(x)\n", lines=(1,), severity=Severity.INFO),
        Case(
            "import torch\nif x.is_cuda or torch.backends.mkl.is_available():\n    y = x.stft()\n"
            "else:\n    y = librosa.stft(x.numpy())\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case("flag = next(model.parameters()).is_cuda\n", lines=(1,), severity=Severity.INFO),
        Case(
            "import torch\nd = x.get_device() if x.is_cuda else torch.device('cpu')\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "if all(t.is_cuda for t in ts):\n    y = ext.fused(*ts)\nelse:\n"
            "    y = slow([t.numpy() for t in ts])\n",
            lines=(1,),
            severity=Severity.ERROR,
        ),
        Case(
            "on = next(model.parameters()).is_cuda\nx = [t.cuda() if on else t for t in x]\n",
            lines=(1,),
            severity=Severity.ERROR,
        ),
    ),
)


@RULE.attribute("is_cuda")
def check(attribute: ast.Attribute, module: Module) -> Iterator[Hit]:
    """Find reads of a tensor's attribute; a class's own of the name is the class's business."""
    if not isinstance(attribute.ctx, ast.Load) or _is_other(attribute, module):
        return
    changed = lasting_effect(attribute, module)
    if changed is Effect.NOTHING or _is_for_autocast(attribute, module):
        return  # the rule on autocast has what the choice is for
    severity, message = _NOTE if _is_one_way(attribute, module) else _SAID.get(changed, _NOTE)
    yield module.hit(
        attribute,
        message,
        'ask for `x.device.type != "cpu"`, or move to `x.device` without asking',
        severity=severity,
        fix=_fix(attribute, module) if severity is not Severity.INFO else None,
    )


def _is_for_autocast(attribute: ast.Attribute, module: Module) -> bool:
    """Tell ``torch.autocast("cuda" if x.is_cuda else "cpu")``."""
    choice = module.parent(attribute)
    call = module.parent(choice) if isinstance(choice, ast.IfExp) else None
    return isinstance(call, ast.Call) and module.is_named(call.func, "torch.autocast")


def _is_one_way(attribute: ast.Attribute, module: Module) -> bool:
    """Tell ``x.is_cuda or mkl.is_available()``, which may hold for other reasons."""
    parent = module.parent(attribute)
    return (
        isinstance(parent, ast.BoolOp)
        and isinstance(parent.op, ast.Or)
        and any(module.truth(value) is None for value in parent.values)
    )


def _is_other(attribute: ast.Attribute, module: Module) -> bool:
    parent = module.parent(attribute)
    if isinstance(parent, ast.Call) and parent.func is attribute:
        return True
    return module.is_imported(attribute.value) or bool(
        getattr(attribute.value, "id", "") == "self" and module.classes.stored(attribute)
    )


def _fix(attribute: ast.Attribute, module: Module) -> Fix:
    """Write a comparison, in parentheses where it would not stand without."""
    parent = module.parent(attribute)
    negated = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    edits = [method_name(attribute, f'device.type {"==" if negated else "!="} "cpu"', module)]
    whole = attribute if parent is None or not negated else parent
    start, at = module.byte_range(whole)[0], module.byte_range(attribute)[0]
    # What stands between "not" and the tensor: a bracket, perhaps.
    before = module.source.encoded[start:at].decode().removeprefix("not").lstrip()
    if isinstance(module.parent(whole), _TIGHT):
        before = f"({before}"
        end = module.byte_range(whole)[1]
        edits.append(Edit(start=end, end=end, text=")"))
    if negated or before:
        edits.append(Edit(start=start, end=at, text=before))
    return Fix(edits=tuple(edits), applicability=Applicability.UNSAFE)
