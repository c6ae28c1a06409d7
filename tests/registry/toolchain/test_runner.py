"""Programs run on XLA:CPU, and what comes out is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import pytest
import torch

from op_registry.toolchain.answers import Execution, Outcome
from op_registry.toolchain.replies import Failed, Reply
from tests.support.wheel import needs_wheel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Run: TypeAlias = Callable[..., tuple[Execution, list[torch.Tensor]]]
    Call: TypeAlias = Callable[[str, Sequence[torch.Tensor]], Reply]

pytestmark = needs_wheel
DOUBLE = """module @any_name {{
  func.func @main(%a: tensor<{kind}>) -> tensor<{kind}> {{
    %0 = stablehlo.add %a, %a : tensor<{kind}>
    return %0 : tensor<{kind}>
  }}
}}"""


@pytest.mark.parametrize(
    ("element", "dtype"),
    [
        ("f32", torch.float32),
        ("f64", torch.float64),
        ("f16", torch.float16),
        ("bf16", torch.bfloat16),
        ("i8", torch.int8),
        ("ui8", torch.uint8),
        ("i64", torch.int64),
        ("complex<f32>", torch.complex64),
        ("complex<f64>", torch.complex128),
    ],
)
def test_every_dtype(run_on_cpu: Run, element: str, dtype: torch.dtype) -> None:
    """Values of every dtype arrive, are computed with in that dtype, and come back."""
    given = torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=dtype)
    answer, (found,) = run_on_cpu(DOUBLE.format(kind=f"2x3x{element}"), given)
    assert answer.outcome is Outcome.OK
    assert answer.dtypes == (str(dtype).removeprefix("torch."),)
    assert answer.shapes == ((2, 3),)
    assert found.dtype == dtype
    assert torch.equal(found, given + given)


def test_scalar_and_empty(run_on_cpu: Run) -> None:
    """Tensors of no dimension and of no element run as well."""
    _, (scalar,) = run_on_cpu(DOUBLE.format(kind="f32"), torch.tensor(1.5))
    assert scalar.shape == ()
    assert scalar.item() == 3
    _, (empty,) = run_on_cpu(DOUBLE.format(kind="0x4xf32"), torch.empty(0, 4))
    assert empty.shape == (0, 4)


def test_float_rules_are_kept(run_on_cpu: Run) -> None:
    """NaN, infinities and signed zeros behave as IEEE 754 has it: fast math is off."""
    program = """func.func @main(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.divide %a, %b : tensor<3xf32>
  return %0 : tensor<3xf32>
}"""
    one, other = torch.tensor([1.0, 0.0, 1.0]), torch.tensor([-0.0, 0.0, float("inf")])
    _, (found,) = run_on_cpu(program, one, other)
    assert torch.equal(found[[0, 2]], torch.tensor([float("-inf"), 0.0]))
    assert found[1].isnan()


@pytest.mark.parametrize(
    "given", [[torch.zeros(3)], [torch.zeros(2, dtype=torch.int32)], [], [torch.zeros(2)] * 2]
)
def test_inputs_are_held_against_the_program(call_runner: Call, given: list[torch.Tensor]) -> None:
    """Another shape, dtype or number of inputs is an error, not memory read past its end."""
    reply = call_runner(DOUBLE.format(kind="2xf32"), given)
    assert isinstance(reply, Failed)
    assert "the program takes ['tensor<2xf32>']; given are" in reply.error


def test_mosaic_is_refused(run_on_cpu: Run) -> None:
    """A kernel for the TPU alone is not tried on a CPU."""
    program = """func.func @main(%a: tensor<8x128xf32>) -> tensor<8x128xf32> {
  %0 = stablehlo.custom_call @tpu_custom_call(%a) : (tensor<8x128xf32>) -> tensor<8x128xf32>
  return %0 : tensor<8x128xf32>
}"""
    answer, outputs = run_on_cpu(program, torch.zeros(8, 128))
    assert answer.outcome is Outcome.REFUSED
    assert answer.message == "a Mosaic kernel runs on a TPU only"
    assert outputs == []


def test_unknown_custom_call_is_refused(run_on_cpu: Run) -> None:
    """A custom call that XLA:CPU does not have is refused in its words, and nothing crashes."""
    program = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @NoSuchTarget(%a) {api_version = 4 : i32, backend_config = {}}
    : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}"""
    answer, _ = run_on_cpu(program, torch.zeros(2))
    assert answer.outcome is Outcome.REFUSED
    assert "NoSuchTarget" in (answer.message or "")


@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 4, 4), (5, 3), (2, 3, 5)])
@pytest.mark.parametrize(
    ("element", "dtype"), [("f32", torch.float32), ("complex<f64>", torch.complex128)]
)
def test_lu(run_on_cpu: Run, shape: tuple[int, ...], element: str, dtype: torch.dtype) -> None:
    """The TPU's LU decomposition runs by LAPACK: factors and pivots are PyTorch's."""
    kind, pivots, rows = (
        "x".join(map(str, one))
        for one in (shape, (*shape[:-2], min(shape[-2:])), (*shape[:-2], shape[-2]))
    )
    results = f"tensor<{kind}x{element}>, tensor<{pivots}xi32>, tensor<{rows}xi32>"
    program = f"""func.func @main(%a: tensor<{kind}x{element}>) -> ({results}) {{
  %0:3 = stablehlo.custom_call @LuDecomposition(%a) {{api_version = 4 : i32, backend_config = {{}}}}
    : (tensor<{kind}x{element}>) -> ({results})
  return %0#0, %0#1, %0#2 : {results}
}}"""
    given = torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(0))
    answer, (factors, swapped, order) = run_on_cpu(program, given)
    assert answer.rewritten == ("LuDecomposition by LAPACK",)
    expected, steps = torch.linalg.lu_factor(given)
    torch.testing.assert_close(factors, expected)
    assert torch.equal(swapped + 1, steps)
    permuted = torch.lu_unpack(expected, steps)[0].mT @ given
    by_order = torch.take_along_dim(given, order.long().unsqueeze(-1), dim=-2)
    assert torch.equal(by_order, permuted)
