"""Reading torchgen's files without a YAML package."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from op_registry.build.declarations import (
    delegate_of,
    has_formula,
    has_kernel,
    read_derivatives,
    read_native_functions,
)

if TYPE_CHECKING:
    from pathlib import Path

NATIVE = """\
# A comment.
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  device_check: NoCheck   # TensorIterator
  structured_delegate: add.out
  variants: function, method
  dispatch:
    SparseCPU, SparseCUDA: add_sparse
  tags: [core, pointwise]

- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA: add_out
    MPS: add_out_mps

- func: sub.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  structured: True
  ufunc_inner_loop:
    Generic: sub (AllAndComplex, BFloat16)
    ScalarOnly: sub (Bool)

- func: roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor
  dispatch:
    CPU: roll
  autogen: roll.out, roll.other
"""
DERIVATIVES = """\
- name: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  self: grad
  result: auto_linear

- name: nonzero(Tensor self) -> Tensor
  output_differentiability: [False]

- name: svd(Tensor self) -> (Tensor U, Tensor S)
  output_differentiability: [True, False]
"""


def test_kernels_and_delegates(tmp_path: Path) -> None:
    """Kernels are found in an op's own dispatch table and in its delegate's."""
    (tmp_path / "native.yaml").write_text(NATIVE, encoding="utf-8")
    declared = read_native_functions(tmp_path / "native.yaml")
    assert delegate_of(declared, "aten.add.Tensor") == "aten.add.out"
    assert delegate_of(declared, "aten.add.out") is None
    assert has_kernel(declared, "aten.add.Tensor", "CUDA")
    assert has_kernel(declared, "aten.add.Tensor", "SparseCUDA")
    assert has_kernel(declared, "aten.sub.out", "CUDA")
    assert not has_kernel(declared, "aten.roll.default", "CUDA")
    assert not has_kernel(declared, "aten.absent.default", "CPU")


def test_generated_forms_know_their_source(tmp_path: Path) -> None:
    """Forms that are only named under autogen are declared, with the op they come from."""
    (tmp_path / "native.yaml").write_text(NATIVE, encoding="utf-8")
    declared = read_native_functions(tmp_path / "native.yaml")
    assert declared["aten.roll.out"].generated_from == "aten.roll.default"
    assert declared["aten.roll.other"].generated_from == "aten.roll.default"
    assert declared["aten.roll.default"].generated_from is None


@pytest.mark.parametrize(
    ("op", "known"),
    [
        ("aten.add.Tensor", True),
        ("aten.add_.Tensor", True),
        ("aten._foreach_add.List", True),
        ("aten._foreach_add_.Scalar", True),
        ("aten.svd.default", True),
        ("aten.nonzero.default", False),
        ("aten.add.out", False),
    ],
)
def test_formulas(tmp_path: Path, op: str, known: bool) -> None:
    """In-place and foreach forms share the functional op's formula; others have none."""
    (tmp_path / "derivatives.yaml").write_text(DERIVATIVES, encoding="utf-8")
    assert has_formula(op, read_derivatives(tmp_path / "derivatives.yaml")) is known
