"""TPA307: integer matrix products and quantized tensors of PyTorch's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_OPS = (
    *("_int_mm", "_weight_int8pack_mm", "_weight_int4pack_mm", "_convert_weight_to_int4pack"),
    *("_mixed_dtypes_linear", "_cslt_compress", "_cslt_sparse_mm", "quantize_per_tensor"),
    *("quantize_per_channel", "_sparse_semi_structured_linear", "_weight_int4pack_mm_for_cpu"),
)
_NAMES = (
    *(f"torch.{op}" for op in _OPS),
    *(f"torch.ops.aten.{op}" for op in _OPS),
    *(f"torch.ops.aten.{op}.default" for op in _OPS),
)
_BACKENDS = (
    "torch.ops.quantized.*",
    "torch.quantization.quantize_dynamic",
    "torch.ao.quantization.quantize_dynamic",
)

RULE = Rule(
    code="TPA307",
    name="integer-matmul",
    severity=Severity.ERROR,
    words=(*_OPS, "quantized", "quantize_dynamic"),
    docs=Docs(
        what="Finds calls of PyTorch's int8 and int4 matrix products, 2:4 sparse products, "
        "`quantize_per_tensor` and its like, `torch.ops.quantized` and `quantize_dynamic`. The "
        "last is for CPUs alone, wherever the code runs: a note.",
        why='None of these ops has a TPU kernel: the call raises "operator is not implemented '
        "for TPU\". They are CUDA's or the CPU's.",
        example="y = torch._int_mm(a_int8, b_int8)",
        instead="y = a.to(torch.bfloat16) @ b.to(torch.bfloat16)  # or float8 with "
        "torch._scaled_mm",
        references=("https://docs.pytorch.org/docs/stable/quantization.html",),
    ),
    valid=(
        Case("import torch\ny = torch._scaled_mm(a, b, scale_a=s, scale_b=t)\n"),
        Case("import torch\nif torch.cuda.is_available():\n    y = torch._int_mm(a, b)\n"),
        Case('DOC = "torch._int_mm"\n'),
        Case("from mylib import quantize_per_tensor\nquantize_per_tensor(x)\n"),
    ),
    invalid=(
        Case(
            "import torch\nm = torch.quantization.quantize_dynamic(m, {torch.nn.Linear})\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case("import torch\ny = torch._int_mm(a, b)\n", lines=(2,), columns=(5,)),
        Case("from torch import _weight_int4pack_mm as mm4\ny = mm4(x, w, 32, s)\n", lines=(2,)),
        Case("import torch\ny = torch.ops.aten._int_mm.default(a, b)\n", lines=(2,)),
        Case("import torch\nf = torch.ops.quantized.linear_dynamic\ny = f(x, w)\n", lines=(3,)),
        Case("import torch\nq = torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)\n", lines=(2,)),
    ),
)


@RULE.call(*_NAMES, *_BACKENDS)
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find the calls."""
    yield module.hit(
        call,
        f"`{name}` has no TPU kernel and raises",
        "compute in bfloat16, or in float8 with `torch._scaled_mm`",
        severity=Severity.INFO if name.endswith("quantize_dynamic") else None,
    )
