"""Every reference kernel, against eager PyTorch and the registry."""

from __future__ import annotations

import pytest

from op_registry.loader import load
from op_registry.reference.check import check
from op_registry.reference.declare import declared
from op_registry.reference.samples import collect

KERNELS = declared()
DTYPES = ("float32", "bfloat16", "int64", "int32", "int8", "uint8", "bool", "complex64")


@pytest.mark.parametrize("op", KERNELS)
def test_kernel(op: str) -> None:
    """It has samples; values, shapes, gradients and errors are eager's; all it calls is native."""
    declaration = KERNELS[op]
    samples = collect([declaration], DTYPES)[op]
    outcomes = [o for o in check(declaration, samples, KERNELS, load("0.2.0+torch2.13")) if o.tried]

    assert any(outcome.check == "values" for outcome in outcomes), "no samples"
    assert [(o.check, o.dtype, o.failures) for o in outcomes if o.failures] == []
