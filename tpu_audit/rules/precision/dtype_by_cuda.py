"""TPA304: a dtype chosen by whether there is CUDA."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.precision.dtypes import REFERENCE, arms_of, dtype_of
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.choices import depends_on_availability
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_HALVES = frozenset({"float16", "bfloat16"})
_SWITCHES = ("fp16", "half", "is_half", "use_fp16", "use_half")
"""Arguments of libraries that halve a model."""
_MODEL = re.compile(r"model|net$|pipe|encoder|decoder|unet|vae$", re.IGNORECASE)
_WORKING = (*_HALVES, "float32")

RULE = Rule(
    code="TPA304",
    name="dtype-by-cuda",
    severity=Severity.WARNING,
    words=("float16", "half", "fp16", "bfloat16", "is_half", "use_fp16", "use_half"),
    docs=Docs(
        what="Finds choices between dtypes by a test for CUDA, as an expression or an `if`, "
        "where a TPU gets float32 or float16, choices of float16 for all but the CPU, and "
        "`fp16=torch.cuda.is_available()`.",
        why="The test is false on a TPU: it gets the dtype meant for the CPU, float32 with twice "
        "the memory, or float16 because CUDA does not report bfloat16. A TPU's own is bfloat16.",
        example="dtype = torch.float16 if torch.cuda.is_available() else torch.float32",
        instead="dtype = torch.bfloat16 if torch.accelerator.is_available() else torch.float32",
        fix_safety="Unsafe: CUDA gets bfloat16 in place of float16.",
        references=(REFERENCE, "https://docs.pytorch.org/docs/stable/accelerator.html"),
    ),
    valid=(
        Case("import torch\nd = torch.bfloat16 if torch.accelerator.is_available() else None\n"),
        Case("import torch\nd = torch.float16 if args.half else torch.float32\n"),
        Case("import torch\nd = torch.float32 if torch.cuda.is_available() else torch.bfloat16\n"),
        Case('import torch\nd = torch.bfloat16 if device.type != "cpu" else torch.float32\n'),
        Case("import torch\nm = load(n, fp16=args.fp16)\n"),
        Case('import torch\nn = "fp16" if torch.cuda.device_count() > 1 else "auto"\n'),
    ),
    invalid=(
        Case(
            "import torch\nd = torch.float16 if torch.cuda.is_available() else torch.float32\n",
            lines=(2,),
            columns=(5,),
            fixed="import torch\nd = torch.bfloat16 if torch.accelerator.is_available() "
            "else torch.float32\n",
        ),
        Case(
            'import torch\nd = torch.half if x.device.type == "cuda" else torch.float\n',
            lines=(2,),
            fixed='import torch\nd = torch.bfloat16 if x.device.type != "cpu" else torch.float32\n',
        ),
        Case(
            "import torch\nfrom torch.cuda import is_bf16_supported as ok\n"
            "x = x.to(torch.bfloat16 if ok() else torch.float16)\n",
            lines=(3,),
        ),
        Case(
            'import torch\nhalf = torch.cuda.is_available()\nif half:\n    dtype = "float16"\n'
            'else:\n    dtype = "float32"\n',
            lines=(3,),
        ),
        Case(
            "import torch\nd = torch.float32 if device.type not in ('cuda',) else torch.half\n",
            lines=(2,),
        ),
        Case(
            "import torch\nself.dtype = torch.float32\nif torch.cuda.is_available():\n"
            "    self.dtype = torch.half\n",
            lines=(3,),
        ),
        Case(
            'import torch\nd = torch.float32 if device.type == "mps" else torch.float16\n',
            lines=(2,),
        ),
        Case(
            "import torch\nd = torch.float16 if device.type != 'cpu' else torch.float32\n",
            lines=(2,),
        ),
        Case(
            "import torch\nd = torch.float32 if device == torch.device('cpu') else torch.half\n",
            lines=(2,),
        ),
        Case(
            "import torch\nif device == torch.device('cuda'):\n    model = model.half()\n",
            lines=(2,),
        ),
        Case(
            "import torch\nc = torch.cuda.is_available()\n"
            "d = (torch.bfloat16 if ok else torch.float16) if c else torch.float32\n",
            lines=(3,),
        ),
        Case("import torch\nt = m.transcribe(a, fp16=torch.cuda.is_available())\n", lines=(2,)),
        Case(
            "import torch\n"
            "def pick():\n    if torch.cuda.is_available():\n        return torch.float16\n"
            "    return torch.float32\n",
            lines=(3,),
        ),
    ),
)


@RULE.node(ast.IfExp)
def expression(node: ast.IfExp, module: Module) -> Iterator[Hit]:
    """Find ``A if test else B`` with two dtypes."""
    arms = (_of_arm(node.body, module), _of_arm(node.orelse, module))
    if all(arms):
        yield from _judge(node, node.test, arms, module)


def _of_arm(node: ast.expr, module: Module) -> str:
    """Return an arm's dtype, or the first of a choice between two that stands in the arm."""
    if isinstance(node, ast.IfExp):
        both = dtype_of(node.body, module) and dtype_of(node.orelse, module)
        return dtype_of(node.body, module) if both else ""
    return dtype_of(node, module)


@RULE.node(ast.If)
def statement(node: ast.If, module: Module) -> Iterator[Hit]:
    """Find ``if test:`` with a dtype assigned or returned in both arms."""
    arms = arms_of(node, module)
    if all(arms):
        yield from _judge(node, node.test, arms, module)


@RULE.keyword(*_SWITCHES)
def switch(argument: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find ``fp16=torch.cuda.is_available()``."""
    value = argument.value
    if module.truth(value) is False and depends_on_availability(module, value):
        yield module.hit(
            value,
            f"`{argument.arg}` is off on a TPU, since CUDA is not available: the model works in "
            "float32, with twice the memory",
            "load the model in bfloat16 where `torch.accelerator.is_available()`",
        )


@RULE.method("half")
def halved(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find ``if device.type == "cuda": model.half()``."""
    choice = module.parent(module.statement(call))
    if not isinstance(choice, ast.If) or choice.orelse or not _MODEL.search(module.code(receiver)):
        return
    if module.reach(call).guard is choice.test and module.truth(choice.test) is False:
        yield module.hit(
            choice.test,
            "this test for CUDA leaves the model in float32 on a TPU, with twice the memory",
            "work in bfloat16 where `torch.accelerator.is_available()`",
        )


def _judge(
    node: ast.IfExp | ast.If, test: ast.expr, arms: tuple[str, ...], module: Module
) -> Iterator[Hit]:
    truth = module.truth(test)
    of_cpu = truth is None
    if truth is None:
        truth = _of_accelerators(test, module)
    if truth is None or not all(arm in _WORKING for arm in arms):
        return
    taken, left = arms if truth else arms[::-1]
    if taken in {left, "bfloat16"} or (taken == "float32" and (of_cpu or left not in _HALVES)):
        return
    effect = "twice the memory" if taken == "float32" else "a narrow range and no flash attention"
    yield module.hit(
        node if isinstance(node, ast.IfExp) else test,
        f"this test for {'the CPU' if of_cpu else 'CUDA'} gives a TPU {taken}: {effect}",
        "use bfloat16 where `torch.accelerator.is_available()`",
        fix=_fix(node, taken, module),
    )


def _of_accelerators(test: ast.expr, module: Module) -> bool | None:
    """Return what ``device != "cpu"`` and its like say of accelerators; None for other tests."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq | ast.NotEq):
        return None
    sides = (test.left, test.comparators[0])
    asks = any(module.is_device(side) for side in sides)
    cpu = any("cpu" in module.value(side).strings() and _is_literal(side) for side in sides)
    return isinstance(test.ops[0], ast.NotEq) if asks and cpu else None


def _is_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant | ast.Call)


def _fix(node: ast.IfExp | ast.If, taken: str, module: Module) -> Fix | None:
    """Write the choice by the accelerator, where both arms are dtypes of PyTorch's."""
    if not isinstance(node, ast.IfExp) or taken != "float32" or isinstance(node.body, ast.Constant):
        return None
    torch = repair.torch_name(module)
    test = _test(node.test, module) or f"{torch}.accelerator.is_available()"
    text = f"{torch}.bfloat16 if {test} else {torch}.float32"
    return repair.fix(module, Applicability.UNSAFE, module.edit(node, text))


def _test(test: ast.expr, module: Module) -> str:
    """Return the test of one device's type; empty for a test of what the host has."""
    if not isinstance(test, ast.Compare) or len(test.comparators) != 1:
        return ""
    sides = (test.left, test.comparators[0])
    device = next((side for side in sides if module.is_device(side)), None)
    if not isinstance(device, ast.Name | ast.Attribute):
        return ""
    kind = "" if isinstance(device, ast.Attribute) and device.attr == "type" else ".type"
    return f'{module.code(device)}{kind} != "cpu"'
