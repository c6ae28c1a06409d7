"""In-place and ``out=`` overloads, derived from functional kernels."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from op_registry.build.table import overload_of
from op_registry.reference.adapt import adapted
from op_registry.reference.declare import Declaration, declared
from op_registry.reference.derived import derive


def derived(op: str, function: Any) -> dict[str, Any]:
    """Return what derives from ``function`` as the kernel of ``op``, by op."""
    made = Declaration(op=op, function=function, source="", accuracy="")
    return {found.op: found.function for found in derive(made)}


def test_the_overloads_of_an_op() -> None:
    """Schemas that differ in the place of the result alone are found, and no others."""
    assert set(derived("aten.mish.default", len)) == {"aten.mish.out", "aten.mish_.default"}
    assert set(derived("aten.median.dim", len)) == {"aten.median.dim_values"}
    assert set(derived("aten.cauchy_.default", len)) == set()


def test_out_is_resized_and_cast() -> None:
    """An ``out=`` of another shape is resized with eager's warning; a dtype is cast into."""
    call = derived("aten.erfc.default", torch.special.erfc)["aten.erfc.out"]
    given = torch.randn(3)
    out = torch.zeros(2, dtype=torch.float64)
    with pytest.warns(UserWarning, match="resized"):
        assert call(given, out=out) is out
    assert torch.equal(out, torch.erfc(given).double())
    with pytest.raises(RuntimeError, match=r"float32 can't be cast to the .* int64"):
        call(given, out=torch.zeros(3, dtype=torch.int64))


def test_several_outputs() -> None:
    """A pair of results goes into a pair of outputs, which is returned."""
    call = derived("aten.median.dim", torch.sort)
    values, indices = torch.zeros(0), torch.zeros(0, dtype=torch.int64)
    found = call["aten.median.dim_values"](
        torch.tensor([2.0, 1.0]), 0, values=values, indices=indices
    )
    assert found[0] is values
    assert values.tolist() == [1.0, 2.0]


def test_in_place_keeps_shape_and_dtype() -> None:
    """An in-place form copies into ``self`` and refuses results that do not fit."""
    call = derived("aten.logaddexp.default", len)
    assert "aten.logaddexp_.default" not in call  # torch has none
    call = derived("aten.copysign.Tensor", torch.copysign)["aten.copysign_.Tensor"]
    whole = torch.tensor([1.0, 2.0])
    assert call(whole, torch.tensor(-1.0)) is whole
    assert whole.tolist() == [-1.0, -2.0]
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        call(torch.tensor(1.0), torch.ones(3))
    with pytest.raises(RuntimeError, match="can't be cast"):
        call(torch.ones(2, dtype=torch.int64), torch.ones(2))


def test_derived_overloads_agree_with_eager() -> None:
    """Every derived overload of every kernel is one that eager PyTorch has, with its schema."""
    count = 0
    for declaration in declared().values():
        if overload_of(declaration.op) is None:
            continue  # another library's op, which is not installed here
        for found in derive(declaration):
            assert found.source == declaration.op
            count += 1
    assert count


def test_scalars_arrive_as_tensors() -> None:
    """The dispatcher shows scalar tensors as numbers; kernels see tensors that promote alike."""
    seen: list[Any] = []

    def kernel(self: Any, other: Any) -> Any:
        seen.extend([self, other])
        return self

    adapted(kernel, torch.ops.aten.copysign.Tensor._schema)(torch.ones(2), 2.0)
    assert isinstance(seen[1], torch.Tensor)
    assert (seen[1].dtype, seen[1].shape) == (torch.float32, ())
    adapted(kernel, torch.ops.aten.add.Scalar._schema)(torch.ones(2), 2.0)
    assert seen[3] == 2.0
    assert not isinstance(seen[3], torch.Tensor)
