"""What is said of ops that no function over tensor ops can define."""

from __future__ import annotations

import pytest

from op_registry.loader import load
from op_registry.reference.declare import declared
from op_registry.reference.inexpressible import INEXPRESSIBLE, inexpressible
from op_registry.reference.inexpressible_families import FAMILIES
from op_registry.schema import Support

OPS = load("0.2.0+torch2.13").ops


def test_inexpressible_ops_exist() -> None:
    """Each op that is said to have no definition is an op, with a sentence why."""
    assert [op for op in INEXPRESSIBLE if op not in OPS] == []
    assert all(len(why) > 20 for why in INEXPRESSIBLE.values())


def test_families_have_members_that_are_missing_and_none_with_a_kernel() -> None:
    """Each family says something of an op that the backend lacks; no own kernel contradicts it."""
    missing = [op for op, found in OPS.items() if found.support is Support.MISSING]
    assert [begins for begins in FAMILIES if not any(op.startswith(begins) for op in missing)] == []
    assert [op for op in declared() if inexpressible(op, lacking=True)] == []


@pytest.mark.parametrize(
    ("op", "word"),
    [
        ("quantized.linear_dynamic.default", "quantised"),
        ("_quantized.conv2d.default", "quantised"),
        ("aten._to_sparse_csr.default", "sparse"),
        ("onednn.qconv_pointwise.default", "oneDNN"),
        ("aten._nested_tensor_softmax_with_shape.default", "nested"),
        ("aten.cudnn_convolution.default", "cuDNN"),
        ("aten.linalg_eig.out", "eigenvalues"),
    ],
)
def test_a_missing_op_says_why(op: str, word: str) -> None:
    """The sentence of the family, or of another overload of the op."""
    assert OPS[op].support is Support.MISSING
    assert word in inexpressible(op, lacking=True)


def test_families_are_silent_of_ops_that_run() -> None:
    """Accessors of jagged tensors are native: what is said of nested tensors does not hold."""
    op = "aten._nested_get_offsets.default"
    assert OPS[op].support is Support.NATIVE
    assert inexpressible(op, lacking=False) == ""
    assert inexpressible("aten.add.Tensor", lacking=True) == ""
