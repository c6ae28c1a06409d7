"""The same StableHLO with 16-bit floats computed in float32.

XLA:CPU rounds every intermediate 16-bit result, sums included; a TPU's compiler need not, and eager
PyTorch mostly does not. A program that is right with float32 in between is not a wrong kernel.
"""

from __future__ import annotations

import re
import struct

_TYPE = re.compile(r"(?<=[<x])b?f16(?=>)")
_OTHER_USE = re.compile(r"bitcast_convert|custom_call|(?<![<x])\bb?f16\b")
"""What depends on the bits, or names the type in another way than a tensor's."""
_BITS = re.compile(
    r'dense<(?:0x([0-9A-Fa-f]{4})|"0x((?:[0-9A-Fa-f]{4})*)")>( : tensor<[^>]*?)(b?f16)>'
)


def widened(text: str) -> str | None:
    """Return ``text`` with float32 for all float16 and bfloat16, None when that cannot be done."""
    if not _TYPE.search(text) or _OTHER_USE.search(text):
        return None
    return _TYPE.sub("f32", _BITS.sub(_constant, text))


def _constant(found: re.Match[str]) -> str:
    """Widen a constant that is written as bits: NaN, infinity, or a whole tensor of numbers."""
    one, many, shape, kind = found.groups()
    if one is not None:
        # A single value has its bits in the usual order, a tensor's are little endian.
        return f"dense<0x{_wide(bytes.fromhex(one)[::-1], kind)[::-1].hex().upper()}>{shape}{kind}>"
    data = bytes.fromhex(many)
    numbers = [_wide(data[at : at + 2], kind) for at in range(0, len(data), 2)]
    return f'dense<"0x{b"".join(numbers).hex().upper()}">{shape}{kind}>'


def _wide(bits: bytes, kind: str) -> bytes:
    """Return the bits of a 16-bit float as those of the float32 with its value, little endian."""
    if kind == "bf16":
        return b"\0\0" + bits
    (number,) = struct.unpack("<e", bits)
    return struct.pack("<f", number)
