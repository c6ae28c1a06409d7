"""Programs of 16-bit floats are computed in float32 with the same constants."""

from __future__ import annotations

import struct

import pytest

from op_registry.verify.widened import widened

ONE = """\
module {{
  func.func public @main(%arg0: tensor<2x3x{kind}>) -> tensor<{kind}> {{
    %0 = stablehlo.constant dense<{value}> : tensor<{kind}>
    return %0 : tensor<{kind}>
  }}
}}
"""


def constant(text: str) -> float:
    """Return the number whose bits a program's constant has."""
    bits = text.partition("dense<0x")[2].partition(">")[0]
    (number,) = struct.unpack(">f", bytes.fromhex(bits))
    return float(number)


@pytest.mark.parametrize(
    ("kind", "value", "number"),
    [
        ("bf16", "0x7F80", float("inf")),
        ("bf16", "0xFF80", float("-inf")),
        ("bf16", "0x3FC0", 1.5),
        ("f16", "0xFC00", float("-inf")),
        ("f16", "0x3E00", 1.5),
    ],
)
def test_constants_in_bits(kind: str, value: str, number: float) -> None:
    """Bits of a 16-bit float become those of the float32 of the same value."""
    text = widened(ONE.format(kind=kind, value=value))

    assert text is not None
    assert constant(text) == number
    assert text.count("f32>") == 4
    assert "16" not in text.replace("0x", "")


def test_tensors_in_bits() -> None:
    """A tensor of constants is little endian, element by element."""
    text = widened(ONE.format(kind="bf16", value='"0xC03F807F"'))

    assert text is not None
    assert 'dense<"0x0000C03F0000807F">' in text


def test_decimal_constants_stay() -> None:
    """A constant in digits keeps them."""
    text = widened(ONE.format(kind="f16", value="1.5"))

    assert text is not None
    assert "dense<1.5> : tensor<f32>" in text


@pytest.mark.parametrize(
    "line",
    [
        "%1 = stablehlo.bitcast_convert %0 : (tensor<bf16>) -> tensor<ui16>",
        "%1 = stablehlo.custom_call @Qr(%0) : (tensor<bf16>) -> tensor<bf16>",
        "%1 = stablehlo.something %0 {type = bf16} : tensor<bf16>",
    ],
)
def test_what_depends_on_the_type(line: str) -> None:
    """Programs that look at the bits, or name the type elsewhere, are left alone."""
    assert widened(line) is None


def test_other_types() -> None:
    """Without 16-bit floats there is nothing to widen."""
    assert widened(ONE.format(kind="f32", value="1.5")) is None
