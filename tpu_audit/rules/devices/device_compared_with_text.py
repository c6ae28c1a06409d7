"""TPA115: a ``torch.device`` compared with a string."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.devices.literals import has_own_devices
from tpu_audit.rules.devices.torch_devices import is_torch_device
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python.truth import OTHER_DEVICES
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_KINDS = OTHER_DEVICES | {"cpu", "tpu", "meta"}
_COMPARED = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)
_DEVICE = re.compile(r"([a-z]+)(?::\d+)?")

RULE = Rule(
    code="TPA115",
    name="device-compared-with-text",
    severity=Severity.WARNING,
    words=("device",),
    docs=Docs(
        what='Finds `device == "cuda"` where `device` is a `torch.device`.',
        why="A `torch.device` never equals a string, so the test is false on every host: the way "
        "for the device is never taken, on a TPU neither.",
        example='if x.device == "cpu":\n    x = x.float()',
        instead='if x.device.type == "cpu":\n    x = x.float()',
        fix_safety="Unsafe: code that never ran starts to run.",
        references=("https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device",),
    ),
    valid=(
        Case("from faster_whisper import WhisperModel\nok = self.model.device == 'cuda'\n"),
        Case('def f(device):\n    return device == "cuda"\n'),
        Case('import torch\nok = x.device.type == "cuda"\n'),
        Case('import torch\nok = str(x.device) == "cuda:0"\n'),
        Case('import torch\nok = x.device == torch.device("cpu")\n'),
        Case('ok = args.device == "cuda"\n'),
        Case('class Data:\n    pass\nok = event.device == "keyboard"\n'),
    ),
    invalid=(
        Case(
            'import torch\nif x.device == "cuda":\n    run()\n',
            lines=(2,),
            columns=(4,),
            fixed='import torch\nif x.device.type == "cuda":\n    run()\n',
        ),
        Case(
            "import torch\ndevice = torch.device(name)\nslow = device != 'cpu'\n",
            lines=(3,),
            fixed="import torch\ndevice = torch.device(name)\nslow = device.type != 'cpu'\n",
        ),
        Case(
            "import torch\ndef f(d: torch.device):\n    return d in ('mps', 'cpu')\n",
            lines=(3,),
            fixed="import torch\ndef f(d: torch.device):\n    return d.type in ('mps', 'cpu')\n",
        ),
        Case("if images.device != 'cpu':\n    images = images.cpu()\n", lines=(1,)),
        Case("ok = model.device == 'cuda:0'\n", lines=(1,)),
        Case('ok = any(p.device == "cuda" for p in net.parameters())\n', lines=(1,)),
        Case('ok = next(model.parameters()).device == "cuda:0"\n', lines=(1,)),
        Case(
            "import torch\nclass A:\n    def __init__(self):\n"
            '        self.device = torch.device("cpu")\n    def f(self):\n'
            '        return "cpu" == self.device\n',
            lines=(6,),
        ),
    ),
)


@RULE.node(ast.Compare)
def check(compare: ast.Compare, module: Module) -> Iterator[Hit]:
    """Find the comparisons."""
    if len(compare.ops) != 1 or not isinstance(compare.ops[0], _COMPARED):
        return
    device, text = compare.left, compare.comparators[0]
    if isinstance(device, ast.Constant):
        device, text = text, device
    kinds = _texts(text)
    if not kinds or isinstance(device, ast.Constant) or not is_torch_device(device, module):
        return
    if has_own_devices(module):
        return  # CTranslate2's models have text for a device
    yield module.hit(
        compare,
        "a `torch.device` never equals a string: the test is false on every host",
        "compare `device.type`",
        fix=None if any(":" in kind for kind in kinds) else _fix(device, module),
    )


def _texts(node: ast.expr) -> list[str]:
    """Return the devices' names that a comparison is with; empty where one is something else."""
    items = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    texts = [item.value for item in items if isinstance(item, ast.Constant)]
    names = [text for text in texts if isinstance(text, str) and _is_kind(text)]
    return names if len(names) == len(items) else []


def _is_kind(text: str) -> bool:
    match = _DEVICE.fullmatch(text)
    return match is not None and match.group(1) in _KINDS


def _fix(device: ast.expr, module: Module) -> Fix | None:
    if not isinstance(device, ast.Name | ast.Attribute):
        return None
    return module.replace(device, f"{module.code(device)}.type", Applicability.UNSAFE)
