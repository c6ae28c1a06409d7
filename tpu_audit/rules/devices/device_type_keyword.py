"""TPA105: ``torch.device(type="cuda")``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.devices.literals import is_compared, names_index
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.devices import is_cuda
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_DEVICE = 'torch.accelerator.current_accelerator() or torch.device("cpu")'

RULE = Rule(
    code="TPA105",
    name="cuda-device-by-keyword",
    severity=Severity.ERROR,
    words=("device",),
    docs=Docs(
        what='Finds `torch.device(type="cuda", index=...)`.',
        why="PyTorch for TPUs is built without CUDA: making a tensor on the device raises "
        '"Torch not compiled with CUDA enabled".',
        example='device = torch.device(type="cuda", index=0)',
        instead='device = torch.accelerator.current_accelerator() or torch.device("cpu")',
        fix_safety="Safe without an index; unsafe with one, which the fix drops.",
        references=(
            "https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device",
            "https://docs.pytorch.org/docs/stable/accelerator.html",
        ),
    ),
    valid=(
        Case('import torch\nd = torch.device(type="cpu")\n'),
        Case("import torch\nd = torch.device(type=device_type, index=index)\n"),
        Case('import torch\nsame = x.device == torch.device(type="cuda")\n'),
        Case('from sensors import device\nd = device(type="cuda", index=0)\n'),
        Case(
            "import torch\nif torch.cuda.is_available():\n"
            '    d = torch.device(type="cuda", index=1)\n'
        ),
    ),
    invalid=(
        Case(
            'import torch\nd = torch.device(type="cuda")\n',
            lines=(2,),
            columns=(5,),
            fixed=f"import torch\nd = {_DEVICE}\n",
        ),
        Case(
            'import torch\nx = f(torch.device(index=rank, type="cuda")).x\n',
            lines=(2,),
            fixed=f"import torch\nx = f({_DEVICE}).x\n",
        ),
        Case(
            "from torch import device\nKIND = 'cuda'\nd = device(type=KIND, index=0)\n", lines=(3,)
        ),
        Case(
            "import torch\ndef test_make():\n"
            '    torch.randn(2, device=torch.device(type="cuda"))\n',
            filename="tests/test_make.py",
            lines=(3,),
            severity=Severity.INFO,
        ),
    ),
)


@RULE.call("torch.device")
def check(call: ast.Call, _: str, module: Module) -> Iterator[Hit]:
    """Find the calls whose type, by keyword, is CUDA."""
    kind = keyword(call, "type")
    if kind is None or is_compared(call, module):
        return
    if not any(map(is_cuda, module.value(kind))):
        return
    level = Applicability.UNSAFE if names_index(call) else Applicability.SAFE
    text = repair.fitted(module, call, repair.device(module))
    yield module.hit(
        call,
        "a device of the type CUDA raises on a TPU: PyTorch is built without CUDA there",
        "use the accelerator's device",
        fix=repair.fix(module, level, module.edit(call, text)),
    )
