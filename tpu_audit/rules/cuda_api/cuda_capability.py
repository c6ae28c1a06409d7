"""TPA210: what a CUDA device is capable of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api import symbol_text
from tpu_audit.rules.cuda_api.roles import is_probed
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.table import cuda_symbols, names_of
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_NAMES = names_of("TPA210")
_ADVICE = {
    "torch.cuda.get_device_capability": "ask for a capability on CUDA alone; on a TPU take "
    "bfloat16 and `scaled_dot_product_attention`",
    "torch.cuda.is_bf16_supported": "take bfloat16 on a TPU without asking",
}

RULE = Rule(
    code="TPA210",
    name="cuda-capability",
    severity=Severity.ERROR,
    words=tuple(name.rpartition(".")[2] for name in _NAMES),
    docs=Docs(
        what="Finds `torch.cuda.get_device_capability`, `is_bf16_supported`, `is_tf32_supported` "
        "and the lists of architectures.",
        why="A TPU has no compute capability: asking for it raises. `is_bf16_supported` is false "
        "there, so that code falls back to float16, though every TPU has bfloat16.",
        example="dtype = torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16",
        instead="dtype = torch.bfloat16",
        references=(
            "https://docs.pytorch.org/docs/stable/cuda.html",
            "https://cloud.google.com/tpu/docs/bfloat16",
        ),
    ),
    valid=(
        Case("import torch\ndtype = torch.bfloat16\n"),
        Case("import torch\ncap = getattr(torch.cuda, 'get_device_capability', None)\n"),
        Case("from .utils import is_bf16_supported\nif is_bf16_supported():\n    go()\n"),
        Case("import torch\nok = torch.cuda.is_available() and torch.cuda.is_bf16_supported()\n"),
        Case(
            "import torch\nif torch.cuda.is_available():\n"
            "    cap = torch.cuda.get_device_capability()\n"
        ),
    ),
    invalid=(
        Case(
            "import torch\ndef f(q):\n    if q.device.type != 'cuda':\n        raise ValueError\n"
            "    return torch.cuda.get_device_capability(q.device)\n",
            lines=(5,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\nmajor, _ = torch.cuda.get_device_capability()\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "from torch import cuda\nif cuda.get_device_capability(0)[0] >= 8:\n    fast = 1\n",
            lines=(2,),
        ),
        Case(
            "import torch\nhalf = 'bf16' if torch.cuda.is_bf16_supported() else 'fp16'\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "import torch\nif 'sm_90' in torch.cuda.get_arch_list():\n    use_hopper()\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
    ),
)


@RULE.call(*_NAMES)
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find the calls; one that is false anyway and guarded by a test for CUDA says nothing."""
    symbol = cuda_symbols()[name]
    severity = symbol_text.severity(symbol, call, module)
    harmless = severity is not Severity.ERROR and module.reach(call).dead
    if harmless or is_probed(call.func, name.rpartition(".")[2], module):
        return
    yield module.hit(
        call.func,
        symbol_text.message(symbol, symbol.name),
        _ADVICE.get(name, symbol_text.advice(symbol)),
        severity=Severity.INFO if module.backends.is_refused(call) else severity,
    )
