"""TPA109: a device chosen by ``torch.cuda.is_available()``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.upkeep import on_host
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.demands import needs_cuda
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.choices import DeviceChoice
    from tpu_audit.rules.python.module import Module

_DEVICE = 'torch.accelerator.current_accelerator() or torch.device("cpu")'
_OTHERS = ("cpu", "mps", "xpu", "npu", "hpu")

RULE = Rule(
    code="TPA109",
    name="device-by-cuda-availability",
    severity=Severity.WARNING,
    words=("cuda",),
    docs=Docs(
        what='Finds `"cuda" if torch.cuda.is_available() else "cpu"`, its `if` form, and moves to '
        "CUDA that depend on whether it is available.",
        why="`torch.cuda.is_available()` is false on a TPU: everything runs on the host's CPU, "
        "without a message.",
        example='device = "cuda" if torch.cuda.is_available() else "cpu"',
        instead='device = torch.accelerator.current_accelerator() or torch.device("cpu")',
        fix_safety="Safe for an expression whose test is the call alone; with a longer one, maybe "
        "with a wish of the user, an expression is not rewritten. Unsafe for an `if`: another "
        "accelerator then runs what only CUDA ran.",
        references=("https://docs.pytorch.org/docs/stable/accelerator.html",),
    ),
    valid=(
        Case(
            "import torch\ndef cuda_capability():\n    if torch.cuda.is_available():\n"
            "        device = torch.device('cuda')\n    else:\n        device = 'cpu'\n"
            "    return device\n"
        ),
        Case("import torch\ndevice = torch.accelerator.current_accelerator()\n"),
        Case("import torch\nn = 2 if torch.cuda.is_available() else 1\n"),
        Case('device = "cuda" if fast else "cpu"\n'),
    ),
    invalid=(
        Case(
            'import torch\ndevice = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n',
            lines=(2,),
            columns=(23,),
            fixed=f"import torch\ndevice = {_DEVICE}\n",
        ),
        Case(
            'import torch\ndevice = "cuda:0" if torch.cuda.is_available() else "cpu"\n',
            lines=(2,),
            fixed=f"import torch\ndevice = str({_DEVICE})\n",
        ),
        Case(
            'from torch.cuda import is_available\ndevice = "cuda" if is_available() else "cpu"\n',
            lines=(2,),
        ),
        Case("import torch\np = load(device=0 if torch.cuda.is_available() else -1)\n", lines=(2,)),
        Case(
            "import torch\nuse = torch.cuda.is_available()\n"
            'device = torch.device("cuda") if use else torch.device("cpu")\n',
            lines=(3,),
        ),
        Case(
            'import torch\nif torch.cuda.is_available():\n    device = "cuda"\nelse:\n'
            '    device = "cpu"\n',
            lines=(2,),
            fixed="import torch\nif torch.accelerator.is_available():\n"
            f'    device = str({_DEVICE})\nelse:\n    device = "cpu"\n',
        ),
        Case(
            "import torch\nif torch.cuda.is_available() and not off:\n"
            "    torch.cuda.set_device(rank)\n    device = torch.device('cuda', rank)\n"
            "else:\n    device = torch.device('cpu')\n",
            lines=(2,),
            fixed="import torch\nif torch.accelerator.is_available() and not off:\n"
            f"    torch.cuda.set_device(rank)\n    device = {_DEVICE}\n"
            "else:\n    device = torch.device('cpu')\n",
        ),
        Case(
            "import torch\nif torch.cuda.is_available():\n    torch.cuda.cudart()\n"
            '    device = "cuda"\n',
            lines=(2,),
        ),
        Case(
            "import torch\nif torch.cuda.is_available():\n    model.cuda()\n",
            lines=(2,),
            fixed="import torch\nif torch.accelerator.is_available():\n    model.cuda()\n",
        ),
        Case(
            "import torch\ndef best():\n    if torch.cuda.is_available():\n"
            '        return torch.device("cuda")\n    return torch.device("cpu")\n',
            lines=(3,),
            fixed="import torch\ndef best():\n    if torch.accelerator.is_available():\n"
            f'        return {_DEVICE}\n    return torch.device("cpu")\n',
        ),
        Case('import torch\nd = torch.cuda.is_available() and "cuda" or "cpu"\n', lines=(2,)),
        Case('import torch\nd = ("cpu", "cuda")[torch.cuda.is_available()]\n', lines=(2,)),
        Case(
            'import torch\nd = {True: "cuda:0", False: "cpu"}[torch.cuda.is_available()]\n',
            lines=(2,),
        ),
    ),
)


@RULE.module
def check(module: Module) -> Iterator[Hit]:
    """Find the choices."""
    for choice in module.choices:
        if _is_asked(choice, module) or on_host(choice.node, module):
            continue
        yield module.hit(
            choice.test if isinstance(choice.node, ast.If) else choice.node,
            "CUDA is never available on a TPU: this choice falls silently to the CPU",
            "ask `torch.accelerator.current_accelerator()` for the device",
            fix=_fix(choice, module),
        )


def _is_asked(choice: DeviceChoice, module: Module) -> bool:
    """Tell a choice in a function that is about CUDA by its name."""
    function = module.context(choice.node).function
    return function is not None and "cuda" in function.name


def _fix(choice: DeviceChoice, module: Module) -> Fix | None:
    """Write the accelerator's device over a plain choice between CUDA and other devices."""
    node = choice.node
    if isinstance(node, ast.If):
        return _statement_fix(node, choice, module)
    if not isinstance(node, ast.IfExp) or not choice.direct or not _is_plain(choice, module):
        return None
    target, text = _target(node, module)
    text = repair.fitted(module, target, text)
    return repair.fix(module, Applicability.SAFE, module.edit(target, text))


def _statement_fix(node: ast.If, choice: DeviceChoice, module: Module) -> Fix | None:
    """Ask for an accelerator in the test, and name it in the arm that a TPU then takes."""
    asked = [call for call in descend(node.test) if _asks(call, module)]
    arm = [child for child in node.body if _holds(child, choice.cuda, module)] and node.body
    if len(asked) != 1 or needs_cuda(arm or node.orelse, module):
        return None
    edits = []
    for call in asked:
        word = getattr(call.func, "attr", "is_available")  # type: ignore[attr-defined] # a call
        text = f"{repair.torch_name(module)}.accelerator.{word}"
        edits.append(module.edit(call.func, text))  # type: ignore[attr-defined] # a call
    for given in choice.cuda:
        parent = module.parent(given)
        device = parent if isinstance(parent, ast.Call) and _makes(parent, module) else given
        if isinstance(device, ast.Call) and _makes(device, module):
            text = repair.fitted(module, device, repair.device(module))
            edits.append(module.edit(device, text))
        elif isinstance(device, ast.Constant | ast.JoinedStr):
            edits.append(module.edit(device, repair.device_string(module)))
    return repair.fix(module, Applicability.UNSAFE, *edits)


def _makes(call: ast.Call, module: Module) -> bool:
    return module.is_named(call.func, "torch.device")


def _asks(node: ast.AST, module: Module) -> bool:
    names = ("torch.cuda.is_available", "torch.cuda.device_count")
    return isinstance(node, ast.Call) and module.is_named(node.func, *names)


def _holds(statement: ast.stmt, nodes: tuple[ast.expr, ...], module: Module) -> bool:
    start, end = module.byte_range(statement)
    return any(start <= module.byte_range(node)[0] < end for node in nodes)


def _is_plain(choice: DeviceChoice, module: Module) -> bool:
    values = [module.value(other) for other in choice.other]
    return all(
        value.complete and all(possible.value in _OTHERS for possible in value) for value in values
    )


def _target(node: ast.IfExp, module: Module) -> tuple[ast.expr, str]:
    """Return what to write over, and what: a device for a device, text for text."""
    parent = module.parent(node)
    if isinstance(parent, ast.Call) and module.is_named(parent.func, "torch.device"):
        return parent, repair.device(module)
    is_text = isinstance(node.body, ast.Constant) or isinstance(node.orelse, ast.Constant)
    return node, repair.device_string(module) if is_text else repair.device(module)
