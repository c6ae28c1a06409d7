"""TPA110: a test for a CUDA device by its text."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.devices.device_tests import Effect, cuda_test, lasting_effect
from tpu_audit.rules.devices.literals import is_foreign
from tpu_audit.rules.devices.torch_devices import is_torch_device
from tpu_audit.rules.python.backends import names_library
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_SAID = {
    Effect.COLLAPSED: (
        Severity.WARNING,
        "a TPU counts as a CPU here: what follows takes the wrong device",
        "use `device.type` itself",
    ),
    Effect.NO_AUTOCAST: (
        Severity.WARNING,
        "mixed precision is off on a TPU, since the device is not CUDA",
        'enable it wherever `device.type != "cpu"`, with bfloat16',
    ),
    Effect.COPY: (
        Severity.ERROR,
        "a TPU's tensor is not copied to the host, and NumPy cannot read it",
        "call `.cpu()` on any device",
    ),
    Effect.TO_HOST: (
        Severity.WARNING,
        "a TPU's tensor is copied to the host here, and worked on there",
        "let through any device, or ask for those that lack the op",
    ),
    Effect.LEFT_BEHIND: (
        Severity.WARNING,
        "on a TPU nothing is moved to the device, since it is not CUDA",
        "move to the device itself",
    ),
}
"""Severity, message and advice by what the test changes; the rest is worth a note."""
_NOTE = (
    Severity.INFO,
    "a TPU takes the way for devices other than CUDA",
    'ask for `device.type != "cpu"` where any accelerator is meant',
)

RULE = Rule(
    code="TPA110",
    name="cuda-type-test",
    severity=Severity.WARNING,
    words=("cuda",),
    docs=Docs(
        what='Finds `device.type == "cuda"`, `"cuda" in str(device)` and '
        '`device.startswith("cuda")` where a TPU loses something by them.',
        why="The test is false on a TPU, which then takes the way meant for a CPU: the wrong "
        "autocast, no mixed precision, tensors left on the host. Where the other way is portable, "
        "the finding is a note.",
        example='kind = "cuda" if "cuda" in str(device) else "cpu"\nwith torch.autocast(kind): ...',
        instead="with torch.autocast(device.type, dtype=torch.bfloat16): ...",
        references=(
            "https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device",
            "https://docs.pytorch.org/docs/stable/amp.html",
        ),
    ),
    valid=(
        Case('workers = 0 if "cuda" in str(device) else 0\n'),
        Case('import torch\nif device.type == "cuda":\n    torch.cuda.synchronize()\n'),
        Case('if device.type == "cuda":\n    a()\nelif device.type == "tpu":\n    b()\n'),
        Case('loader = DataLoader(d, pin_memory=device.type == "cuda")\n'),
        Case('ok = "cuda" in name or title.startswith("cuda")\n'),
        Case('if device.type != "cuda":\n    raise ValueError(device)\n'),
        Case('"""device.type == "cuda" is false."""\n# if device == "cuda": pass\n'),
        Case(
            'def pick(device):\n    if device.startswith("cuda:"):\n'
            "        torch.cuda.set_device(device)\n"
            '    elif device.startswith("npu:"):\n        torch.npu.set_device(device)\n'
        ),
        Case('many = device_map == "cuda"\n'),
        Case(
            'import torch\nif mixed and device.type == "cuda":\n'
            "    torch.backends.cuda.matmul.allow_tf32 = True\n"
            'if device.type == "cuda":\n    assert torch.cuda.is_available(), device\n'
        ),
        Case('import torch\nkind = torch.half if x.device.type == "cuda" else torch.float\n'),
        Case(
            "import torch\n"
            'with torch.cuda.amp.autocast(wanted and device.type == "cuda"):\n    f()\n'
        ),
        Case(
            "def to_tensorrt(self, place):\n"
            '    if self.device.type != "cuda":\n        self = self.to(place)\n'
        ),
        Case(
            'if device.type in ("cuda", "xpu") and kind.__name__ in ["Params4bit"]:\n    y = f(x)\n'
        ),
        Case(
            'import os\nif device.type == "cuda":\n'
            '    os.environ["TORCH_NCCL_BLOCKING_WAIT"] = "1"\n'
            'if "cuda" in device.type:\n    assert gpu, "not supported"\n'
        ),
        Case('pinned = ids.device.type == "cuda"\n'),
        Case('scaler_enabled = precision == "fp16" and self.device_type == "cuda"\n'),
        Case('if device.type == "cuda":\n    y = triton_softmax(x)\nelse:\n    y = softmax(x)\n'),
    ),
    invalid=(
        Case(
            "def f(x):\n    if x.device.type == 'cuda' and x.ndim > 2:\n"
            "        return x.mul(255).cpu().numpy()\n    return x.cpu().numpy()\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            'import torch\non = "cuda" in device.type and cfg.amp\n'
            "with torch.autocast(device.type, enabled=on):\n    f()\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            'kind = "cuda" if "cuda" in str(device) else "cpu"\nwith autocast(kind):\n    f()\n',
            lines=(1,),
            columns=(18,),
            severity=Severity.WARNING,
        ),
        Case(
            'import torch\nwith torch.autocast(d.type, enabled=d.type == "cuda"):\n    f()\n',
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            'def f(x):\n    if x.device.type == "cuda":\n        x = x.cpu()\n'
            "    return x.numpy()\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            'if args.device.startswith("cuda"):\n    model.cuda()\n',
            lines=(1,),
            severity=Severity.WARNING,
        ),
        Case(
            'mode = "pointwise" if a.device.type in ("cuda", "xpu") else "generic"\n',
            lines=(1,),
            severity=Severity.INFO,
        ),
        Case(
            "if x.device.type not in ('cuda', 'cpu'):\n    x = x.cpu()\nz = fold(x)\n",
            lines=(1,),
            severity=Severity.WARNING,
        ),
        Case(
            "import torch\nif device == torch.device('cuda'):\n    y = y.cpu()\nz = y.numpy()\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case("fast = 'cuda' in str(device) and n % 8 == 0\n", lines=(1,), severity=Severity.INFO),
    ),
)


@RULE.string("cuda", "CUDA")
def check(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find the tests, and judge them by what they decide."""
    found = cuda_test(constant, module)
    if found is None or is_foreign(module):
        return
    test, device = found
    is_text = not isinstance(module.parent(constant), ast.Call) or module.parent(constant) is test
    if (is_text and is_torch_device(device, module)) or module.truth(test) is None:
        return
    changed = lasting_effect(test, module)
    if changed in {Effect.NOTHING, Effect.REJECTED, Effect.KERNEL}:
        return
    severity, message, advice = _SAID.get(changed, _NOTE)
    if severity is Severity.INFO and _is_of_cuda(test, module):
        return
    yield module.hit(test, message, advice, severity=severity)


def _is_of_cuda(test: ast.expr, module: Module) -> bool:
    """Tell a test in code of a library, or for one, that has kernels for CUDA alone."""
    if module.backends.owns(test) or module.backends.is_option(test):
        return True
    statement = module.statement(test)
    asked = statement.test if isinstance(statement, ast.If | ast.While | ast.Assert) else test
    return names_library(module.code(asked)) or "4bit" in module.code(asked)
