"""Which dispatch keys a kernel is planned for."""

from __future__ import annotations

import pytest

from op_registry.loader import load
from op_registry.reference.plan import plan


@pytest.mark.parametrize(
    ("op", "keys"),
    [
        ("aten.mish.default", ("PrivateUse1",)),
        ("aten.linalg_det.default", ("PrivateUse1", "AutogradPrivateUse1")),
        ("aten._linalg_det.default", ("PrivateUse1", "AutogradPrivateUse1")),
    ],
)
def test_who_differentiates_decides_the_keys(op: str, keys: tuple[str, ...]) -> None:
    """Below autograd's formula; in autograd's place for composites and own gradients."""
    steps = plan([op], snapshot=load("0.2.0+torch2.13"), installed={})
    assert {step.entry.op: step.keys for step in steps}[op] == keys
