"""What the compiling child says of programs, for every TPU generation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

import pytest

from op_registry.toolchain.answers import Compilation, Outcome
from op_registry.toolchain.chips import CHIPS
from op_registry.toolchain.pool import run
from op_registry.toolchain.replies import Done, Failed, Reply
from op_registry.toolchain.worker import Worker
from tests.support.wheel import PYTHON, needs_wheel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Compile: TypeAlias = Callable[[str, str], Compilation]

pytestmark = needs_wheel


def binary(op: str, kind: str) -> str:
    """Return a program of one elementwise operation on two operands."""
    return f"""func.func @main(%a: {kind}, %b: {kind}) -> {kind} {{
  %0 = stablehlo.{op} %a, %b : {kind}
  return %0 : {kind}
}}"""


def dot(element: str) -> str:
    """Return a program of one matmul."""
    kind = f"tensor<128x128x{element}>"
    return f"""func.func @main(%a: {kind}, %b: {kind}) -> {kind} {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({kind}, {kind}) -> {kind}
  return %0 : {kind}
}}"""


def convert(source: str, target: str) -> str:
    """Return a program of one conversion."""
    return f"""func.func @main(%a: tensor<8x{source}>) -> tensor<8x{target}> {{
  %0 = stablehlo.convert %a : (tensor<8x{source}>) -> tensor<8x{target}>
  return %0 : tensor<8x{target}>
}}"""


@pytest.mark.parametrize("chip", CHIPS)
def test_addition_compiles(compile_for: Compile, chip: str) -> None:
    """Every generation compiles an addition and says what it takes."""
    answer = compile_for(binary("add", "tensor<1024x1024xf32>"), chip)
    assert answer.outcome is Outcome.OK
    assert answer.message is None
    assert answer.memory is not None
    assert answer.memory.arguments == 2 * 4 * 1024 * 1024
    assert answer.memory.outputs == 4 * 1024 * 1024
    assert answer.memory.code > 0
    assert answer.flops == 1024 * 1024
    assert answer.bytes_accessed
    assert answer.bytes_accessed >= 3 * 4 * 1024 * 1024
    assert answer.optimal_seconds
    assert 0 < answer.optimal_seconds < 1e-3
    assert (answer.operations, answer.unestimated) == (1, 0)
    assert (answer.emulation, answer.custom_calls, answer.rewritten) == ((), (), ())


@pytest.mark.parametrize("chip", CHIPS)
def test_memory_limit_is_the_compilers(compile_for: Compile, chip: str) -> None:
    """A program too large for HBM is refused with the very limit that the table of chips has."""
    answer = compile_for(binary("add", "tensor<64x1024x1024x1024xbf16>"), chip)
    assert answer.outcome is Outcome.REFUSED
    limit = re.search(r"exceeds available HBM \((\d+\.\d+)G\)", answer.message or "")
    assert limit, answer.message
    assert float(limit[1]) == pytest.approx(CHIPS[chip].hbm_bytes / 2**30, abs=0.005)


def test_refusal_in_the_compilers_words(compile_for: Compile) -> None:
    """What the compiler has not implemented is a refusal with its message, free of addresses."""
    answer = compile_for(dot("i64"), "v6e")
    assert answer.outcome is Outcome.REFUSED
    assert "this rewriting is not implemented" in (answer.message or "")
    assert not re.search(r"0x[0-9a-f]{6}", answer.message or "")
    assert answer.memory is None


def test_text_that_does_not_parse_is_skew(compile_for: Compile) -> None:
    """An operation that this jaxlib has never heard of says nothing of the chip."""
    answer = compile_for(binary("invented_later", "tensor<2xf32>"), "v6e")
    assert answer.outcome is Outcome.SKEW
    assert "invented_later" in (answer.message or "")


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (binary("multiply", "tensor<8x128xf32>"), ()),
        (binary("multiply", "tensor<8x128xi32>"), ()),
        (binary("multiply", "tensor<8x128xf64>"), ("f64 in pairs of f32",)),
        (binary("multiply", "tensor<8x128xi64>"), ("s64 in pairs of u32",)),
        (binary("multiply", "tensor<8x128xui64>"), ("u64 in pairs of u32",)),
        (binary("multiply", "tensor<8x128xcomplex<f32>>"), ("c64 in pairs of f32",)),
        (convert("i64", "i32"), ()),
        (convert("i32", "i64"), ()),
        (dot("bf16"), ()),
        (dot("f16"), ("f16 computed in f32",)),
    ],
)
def test_emulation(compile_for: Compile, program: str, words: tuple[str, ...]) -> None:
    """Types that the chip does not compute in are named; a mere conversion is no computing."""
    assert compile_for(program, "v6e").emulation == words


def test_emulation_is_what_the_compiler_did(compile_for: Compile) -> None:
    """64-bit floats take many times the instructions of 32-bit ones."""
    single = compile_for(binary("multiply", "tensor<8x128xf32>"), "v6e").instructions
    double = compile_for(binary("multiply", "tensor<8x128xf64>"), "v6e").instructions
    assert single
    assert double
    assert double > 10 * single


def test_missing_estimates_are_counted(compile_for: Compile) -> None:
    """Instructions without an estimate leave no negative time behind."""
    answer = compile_for(binary("multiply", "tensor<8x128xi64>"), "v6e")
    assert answer.unestimated > 0
    assert answer.optimal_seconds is not None
    assert 0 <= answer.optimal_seconds < 1e-3


def test_top_k_of_a_newer_version(compile_for: Compile) -> None:
    """The attribute that this jaxlib does not know is dropped, and it is said."""
    program = """func.func @main(%a: tensor<8x16xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>) {
  %0, %1 = chlo.top_k(%a, k = 2, is_stable = false)
    : tensor<8x16xf32> -> (tensor<8x2xf32>, tensor<8x2xi32>)
  return %0, %1 : tensor<8x2xf32>, tensor<8x2xi32>
}"""
    answer = compile_for(program, "v6e")
    assert answer.outcome is Outcome.OK
    assert answer.rewritten == ("chlo.top_k without is_stable",)


def test_unknown_chip_is_an_error(compiler: Worker, tmp_path: Path) -> None:
    """A generation that is not in the table is no verdict on the program."""
    (tmp_path / "p").write_text(binary("add", "tensor<2xf32>"), encoding="utf-8")
    reply = compiler.call({"program": str(tmp_path / "p"), "chip": "v99"}, 60)
    assert isinstance(reply, Failed)
    assert "unknown TPU generation 'v99'" in reply.error


def test_two_children_compile_at_once(tmp_path: Path) -> None:
    """Two processes hold the compiler at the same time; its lock file keeps neither out."""
    assert PYTHON is not None
    python = PYTHON
    (tmp_path / "p").write_text(binary("add", "tensor<2xf32>"), encoding="utf-8")

    def equip() -> Worker:
        worker = Worker("op_registry.toolchain.compiler", python)
        worker.start()
        return worker

    def work(worker: Worker, chip: str) -> Reply:
        return worker.call({"program": str(tmp_path / "p"), "chip": chip}, 60)

    found = dict(run(CHIPS, equip, work, 2))
    assert found.keys() == CHIPS.keys()
    for reply in found.values():
        assert isinstance(reply, Done)
        assert Compilation.from_json(reply.result).outcome is Outcome.OK
