"""TPA308: float32 tolerances that bfloat16 matrix products miss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.rule import Case, Docs, Rule, Stability
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_LEAST = 1e-3
"""Relative error of a product whose factors are rounded to bfloat16's 8 bits, roughly."""

RULE = Rule(
    code="TPA308",
    name="tight-tolerance",
    severity=Severity.INFO,
    stability=Stability.PREVIEW,
    words=("allclose", "assert_close", "assert_allclose"),
    docs=Docs(
        what="Finds `allclose` and `assert_close` in tests whose `rtol` or `atol` given is below "
        "0.001.",
        why="float32 matrix products and convolutions on a TPU are one pass of bfloat16 by "
        "default: about three digits agree.",
        example="torch.testing.assert_close(out, expected, rtol=1e-5, atol=1e-5)",
        instead='torch.set_float32_matmul_precision("highest")\n'
        "torch.testing.assert_close(out, expected, rtol=1e-5, atol=1e-5)",
        references=(
            (
                "https://docs.pytorch.org/docs/stable/generated/"
                "torch.set_float32_matmul_precision.html"
            ),
        ),
    ),
    valid=(
        Case("import torch\nok = torch.allclose(a, b, rtol=1e-6)\n"),
        Case(
            "import torch\ndef test_a():\n    assert torch.allclose(a, b, rtol=1e-2, atol=0.1)\n",
            filename="tests/test_a.py",
        ),
        Case(
            'import torch\ntorch.set_float32_matmul_precision("highest")\n'
            "assert torch.allclose(a, b, atol=1e-6)\n",
            filename="tests/test_b.py",
        ),
    ),
    invalid=(
        Case(
            "import torch\ndef test_a():\n    assert torch.allclose(a, b, rtol=1e-5)\n",
            filename="tests/test_a.py",
            lines=(3,),
        ),
        Case(
            "from torch.testing import assert_close\nTOL = 1e-6\nassert_close(a, b, rtol=TOL, "
            "atol=TOL)\n",
            filename="test_model.py",
            lines=(3,),
        ),
        Case(
            "import torch\ndef test_a():\n    assert torch.allclose(x.cpu(), y, 1e-4)\n",
            filename="tests/test_c.py",
            lines=(3,),
        ),
    ),
)


@RULE.call("torch.allclose", "torch.testing.assert_close", "torch.testing.assert_allclose")
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find tight comparisons in tests."""
    if not module.context(call).test or _is_exact(module):
        return
    given = [*call.args[2:4], keyword(call, "rtol"), keyword(call, "atol")]
    values = [p.value for one in given if one is not None for p in module.value(one)]
    if any(isinstance(value, float) and 0 < value < _LEAST for value in values):
        yield module.hit(
            call,
            f"`{name}` compares more digits than a TPU's default float32 matrix product keeps",
            'set `torch.set_float32_matmul_precision("highest")` in the test, or widen `rtol`',
        )


def _is_exact(module: Module) -> bool:
    return any(module.uses.called("torch.set_float32_matmul_precision"))
