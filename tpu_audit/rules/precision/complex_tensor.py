"""TPA306: complex tensors."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.precision.dtypes import takes_dtype
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_CALLS = ("torch.view_as_complex", "torch.polar", "torch.complex", "torch.stft")

RULE = Rule(
    code="TPA306",
    name="complex-tensor",
    severity=Severity.INFO,
    words=(
        "view_as_complex",
        "polar",
        "complex",
        "complex64",
        "complex128",
        "cdouble",
        "cfloat",
        "stft",
    ),
    docs=Docs(
        what="Finds `view_as_complex`, `polar`, `complex`, `stft` with complex results, and "
        "complex dtypes. A warning for complex128.",
        why="Complex kernels exist on a TPU, yet its units have no complex numbers: they are "
        "computed as pairs of reals, and complex128 is emulated as float64 is.",
        example="freqs = torch.polar(torch.ones_like(angles), angles)\n"
        "out = torch.view_as_real(torch.view_as_complex(x) * freqs)",
        instead="cos, sin = angles.cos(), angles.sin()\n"
        "out = torch.stack((a * cos - b * sin, a * sin + b * cos), -1)",
        references=("https://docs.pytorch.org/docs/stable/complex_numbers.html",),
    ),
    valid=(
        Case("import torch\ny = torch.fft.rfft(x).abs()\n"),
        Case("import numpy as np\nz = np.zeros(3, dtype=np.complex128)\n"),
        Case("import torch\nif x.dtype == torch.complex64:\n    x = x.real\n"),
        Case("import cmath\nz = cmath.polar(1j)\nw = complex(1, 2)\n"),
    ),
    invalid=(
        Case("import torch\nz = torch.view_as_complex(x)\n", lines=(2,), severity=Severity.INFO),
        Case("from torch import polar as p\nf = p(r, angle)\n", lines=(2,)),
        Case("import torch\nz = x.to(torch.complex128)\n", lines=(2,), severity=Severity.WARNING),
        Case("import torch\nz = torch.stft(x, 512, return_complex=True)\n", lines=(2,)),
        Case("import torch\nz = torch.zeros(3, dtype=torch.cfloat)\n", lines=(2,)),
    ),
)


@RULE.call(*_CALLS)
def call(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find what makes complex tensors."""
    wish = keyword(call, "return_complex")
    if name == "torch.stft" and not (isinstance(wish, ast.Constant) and wish.value):
        return
    yield module.hit(
        call,
        f"`{name}` computes with pairs of reals on a TPU, which has no complex units",
        "measure it; real arithmetic on cosine and sine is the fast form of rotary embeddings",
    )


@RULE.use("torch.complex64", "torch.cfloat", "torch.complex128", "torch.cdouble")
def dtype(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find complex dtypes where they are worked with."""
    if not takes_dtype(node, module):
        return
    double = name in {"torch.complex128", "torch.cdouble"}
    yield module.hit(
        node,
        f"`{name}` is emulated in pairs of float64, many times slower than float32, on a TPU"
        if double
        else f"`{name}` is computed as pairs of reals on a TPU",
        "use complex64" if double else "measure it; use reals in hot code",
        severity=Severity.WARNING if double else None,
    )
