"""Scans that were rewritten compute what the scan says."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import pytest
import torch

from op_registry.toolchain.answers import Compilation, Execution, Outcome
from tests.support.wheel import needs_wheel

if TYPE_CHECKING:
    from collections.abc import Callable

    Run: TypeAlias = Callable[..., tuple[Execution, list[torch.Tensor]]]

pytestmark = needs_wheel
UNROLLED, LOOPED = ("chlo.scan unrolled",), ("chlo.scan as stablehlo.while",)


def cumsum(rows: int, *, dimension: int = 0, reverse: bool = False, element: str = "f32") -> str:
    """Return a cumulative sum over ``rows`` x 3, or 3 x ``rows``; it returns the carry as well."""
    shape = f"{rows}x3" if dimension == 0 else f"3x{rows}"
    whole, row = f"tensor<{shape}x{element}>", f"tensor<3x{element}>"
    flag = str(reverse).lower()
    return f"""func.func @main(%a: {whole}, %init: {row}) -> ({whole}, {row}) {{
  %0:2 = chlo.scan(%a) inits (%init) dimension={dimension}
      attributes {{is_associative = true, is_reverse = {flag}, scan_dim_size = {rows} : i64}} {{
  ^bb0(%input: {row}, %carry: {row}):
    %1 = stablehlo.add %input, %carry : {row}
    stablehlo.return %1, %1 : {row}, {row}
  }} : ({whole}, {row}) -> ({whole}, {row})
  return %0#0, %0#1 : {whole}, {row}
}}"""


@pytest.mark.parametrize(
    ("rows", "how"), [(0, UNROLLED), (1, UNROLLED), (16, UNROLLED), (17, LOOPED), (100, LOOPED)]
)
@pytest.mark.parametrize("dimension", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
def test_cumulative_sum(
    run_on_cpu: Run, rows: int, how: tuple[str, ...], *, dimension: int, reverse: bool
) -> None:
    """Either way of rewriting, either dimension, either direction, from no row on."""
    given = torch.arange(rows * 3, dtype=torch.float32).reshape(rows, 3)
    init = torch.tensor([100.0, 200.0, 300.0])
    expected = given.flip(0).cumsum(0).flip(0) if reverse else given.cumsum(0)
    shown = given.T if dimension else given
    program = cumsum(rows, dimension=dimension, reverse=reverse)
    answer, (stacked, carry) = run_on_cpu(program, shown, init)
    assert answer.outcome is Outcome.OK
    assert answer.rewritten == how
    assert torch.equal(stacked.T if dimension else stacked, expected + init)
    assert torch.equal(carry, given.sum(0) + init)


@pytest.mark.parametrize("rows", [4, 70])
def test_complex(run_on_cpu: Run, rows: int) -> None:
    """Complex elements, which the old hand-over crashed on, are summed."""
    generator = torch.Generator().manual_seed(0)
    given = torch.randn(rows, 3, dtype=torch.complex64, generator=generator)
    init = torch.zeros(3, dtype=torch.complex64)
    _, (stacked, _) = run_on_cpu(cumsum(rows, element="complex<f32>"), given, init)
    torch.testing.assert_close(stacked, given.cumsum(0))


def several(rows: int) -> str:
    """Return a scan of two inputs, two carries and three outputs, whose body has a region."""
    whole, row = f"tensor<{rows}x3xf32>", "tensor<3xf32>"
    results = f"{whole}, {whole}, {whole}, {row}, {row}"
    return f"""func.func @main(%a: {whole}, %b: {whole}) -> ({results}) {{
  %zero = stablehlo.constant dense<0.0> : {row}
  %one = stablehlo.constant dense<1.0> : {row}
  %0:5 = chlo.scan(%a, %b) inits (%zero, %one) dimension=0
      attributes {{is_associative = false, is_reverse = false, scan_dim_size = {rows} : i64}} {{
  ^bb0(%x: {row}, %y: {row}, %sum: {row}, %product: {row}):
    %more = stablehlo.constant dense<1.0> : {row}
    %true = stablehlo.constant dense<true> : tensor<i1>
    %1 = stablehlo.add %x, %sum : {row}
    %2 = "stablehlo.if"(%true) ({{
      %inner = stablehlo.multiply %y, %product : {row}
      %outer = stablehlo.add %inner, %more : {row}
      stablehlo.return %outer : {row}
    }}, {{
      stablehlo.return %1 : {row}
    }}) : (tensor<i1>) -> {row}
    stablehlo.return %1, %2, %y, %1, %2 : {row}, {row}, {row}, {row}, {row}
  }} : ({whole}, {whole}, {row}, {row}) -> ({results})
  return %0#0, %0#1, %0#2, %0#3, %0#4 : {results}
}}"""


@pytest.mark.parametrize(("rows", "how"), [(6, UNROLLED), (80, LOOPED)])
def test_several_inputs_and_carries(run_on_cpu: Run, rows: int, how: tuple[str, ...]) -> None:
    """Inputs, carries and outputs keep their places, inside of regions as well."""
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.rand(rows, 3, generator=generator) for _ in range(2))
    total, product, sums, products = torch.zeros(3), torch.ones(3), [], []
    for x, y in zip(a, b, strict=True):
        total, product = total + x, y * product + 1
        sums.append(total)
        products.append(product)
    answer, found = run_on_cpu(several(rows), a, b)
    assert answer.rewritten == how
    expected = [torch.stack(sums), torch.stack(products), b, total, product]
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)


def test_scan_within_a_scan(run_on_cpu: Run) -> None:
    """An inner scan is rewritten with the body it stands in: rows of sums of row prefixes."""
    program = """func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<3xf32>
  %0:2 = chlo.scan(%a) inits (%zero) dimension=0
      attributes {is_associative = true, is_reverse = false, scan_dim_size = 2 : i64} {
  ^bb0(%row: tensor<3xf32>, %carry: tensor<3xf32>):
    %nil = stablehlo.constant dense<0.0> : tensor<f32>
    %1:2 = chlo.scan(%row) inits (%nil) dimension=0
        attributes {is_associative = true, is_reverse = false, scan_dim_size = 3 : i64} {
    ^bb0(%x: tensor<f32>, %so_far: tensor<f32>):
      %2 = stablehlo.add %x, %so_far : tensor<f32>
      stablehlo.return %2, %2 : tensor<f32>, tensor<f32>
    } : (tensor<3xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<f32>)
    %3 = stablehlo.add %1#0, %carry : tensor<3xf32>
    stablehlo.return %3, %3 : tensor<3xf32>, tensor<3xf32>
  } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  return %0#0 : tensor<2x3xf32>
}"""
    given = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    _, (found,) = run_on_cpu(program, given)
    assert torch.equal(found, given.cumsum(1).cumsum(0))


@pytest.mark.parametrize(("rows", "how"), [(8, UNROLLED), (100, LOOPED)])
def test_rewritten_scans_compile(
    compile_for: Callable[[str, str], Compilation], rows: int, how: tuple[str, ...]
) -> None:
    """The TPU compiler takes either form, and the answer says that it saw one."""
    answer = compile_for(cumsum(rows), "v6e")
    assert answer.outcome is Outcome.OK
    assert answer.rewritten == how
