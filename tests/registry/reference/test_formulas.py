"""What the gradient of an op calls."""

from __future__ import annotations

from op_registry.reference.declare import Declaration
from op_registry.reference.formulas import closure, needs, packets_called


def kernels(**needed: tuple[str, ...]) -> dict[str, Declaration]:
    """Return declarations by op: each name stands for ``aten.NAME.default``."""
    ops = {f"aten.{name}.default": found for name, found in needed.items()}
    return {
        op: Declaration(op=op, function=len, source="", accuracy="", needs=found)
        for op, found in ops.items()
    }


def test_formulas_name_their_ops() -> None:
    """Calls in a derivative formula are read, those of forward mode are not."""
    assert "mish_backward" in packets_called("aten.mish.default")
    assert "upsample_trilinear3d_backward" in packets_called("aten.upsample_trilinear3d.default")
    assert packets_called("aten.hstack.default") == frozenset()
    assert packets_called("torchvision.nms.default") == frozenset()


def test_what_an_op_needs_has_a_kernel() -> None:
    """Of the ops that a formula or the declaration names, those with a kernel count."""
    declared = kernels(mish=("aten.trace.default",), mish_backward=(), trace=())
    assert needs("aten.mish.default", declared) == [
        "aten.mish_backward.default",
        "aten.trace.default",
    ]
    assert needs("aten.mish.default", kernels(mish=())) == []


def test_needs_are_followed() -> None:
    """What a needed op needs is needed as well; circles end."""
    declared = kernels(a=("aten.b.default",), b=("aten.c.default",), c=("aten.a.default",), d=())
    assert closure("aten.a.default", declared) == {f"aten.{name}.default" for name in "abc"}
