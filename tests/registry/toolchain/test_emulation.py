"""Reading emulation out of pairs and optimised HLO, without a compiler."""

from __future__ import annotations

from op_registry.toolchain.emulation import custom_calls, emulation, instructions

HLO = """HloModule m, entry_computation_layout={(f16[8,8]{1,0})->f16[8,8]{1,0}}

%fused (p: f16[8,8]) -> f16[8,8] {
  %p = f16[8,8]{1,0:T(8,128)(2,1)S(1)} parameter(0)
  %convolution.2 = f32[8,8]{1,0:T(8,128)} convolution(%p, %p), dim_labels=bf_io->bf
  ROOT %convert.1 = f16[8,8]{1,0:T(8,128)(2,1)} convert(%convolution.2)
}

ENTRY %main (a: f16[8,8]) -> f16[8,8] {
  %a = f16[8,8]{1,0} parameter(0)
  %start = (f16[8,8]{1,0:S(1)}, f16[8,8]{1,0}, u32[]{:S(2)}) copy-start(%a)
  %low = u32[8,8]{1,0} custom-call(%a), custom_call_target="X64SplitLow"
  %wide = f64[8,8]{1,0} custom-call(%a), custom_call_target="X128Combine"
  %k = f16[8,8]{1,0} custom-call(%a), custom_call_target="tpu_custom_call"
  ROOT %f = f16[8,8]{1,0} fusion(%a), kind=kOutput, calls=%fused
}
"""


def test_instructions_of_all_computations() -> None:
    """Each line of each computation counts once, tuples and roots included."""
    assert instructions(HLO) == 9


def test_custom_calls_without_the_splitting() -> None:
    """What splits and joins 64-bit values is not told of."""
    assert custom_calls(HLO) == ("tpu_custom_call",)


def test_matmul_in_f32() -> None:
    """A matmul that the program has in f16 and the chip's program in f32 is told of."""
    assert emulation({("convolution", "f16")}, HLO) == ("f16 computed in f32",)


def test_f32_of_the_programs_own() -> None:
    """Where the program itself has that operation in f32, f32 in the result shows nothing."""
    assert emulation({("convolution", "f16"), ("convolution", "f32")}, HLO) == ()


def test_other_operations_in_f32() -> None:
    """An f16 addition is not what became the f32 convolution."""
    assert emulation({("add", "f16")}, HLO) == ()


def test_without_hlo() -> None:
    """64-bit types are told of from the program alone, in a fixed order."""
    pairs = {("add", "s64"), ("multiply", "c64"), ("add", "f16"), ("exponential", "f64")}
    words = ("f64 in pairs of f32", "s64 in pairs of u32", "c64 in pairs of f32")
    assert emulation(pairs, None) == words
