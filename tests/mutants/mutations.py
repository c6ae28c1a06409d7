"""What happens to files: cut, damaged, mixed up, written in another language or encoding."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

_ODD = ("\u2028", "\x85", "\x0c", "\u202e", "\U0001f600", "\ufeff", "\x1b[31m", "\x00", "\r", "é")
_TOKENS = (
    b"(", b")", b"[", b"]", b"{", b"}", b'"', b"'", b'"""', b"\\", b"#", b":", b"=", b"{{", b"}}",
    b"{%", b"<<EOT\n", b"$(", b"`", b"&a", b"*a", b"!!x ", b"? ", b"- ", b"---\n", b"%", b"lambda:",
    b"cuda", b"tpu-audit: ignore[", b"# tpu-audit: ignore\n", b"\t", b"=" * 40, b"9" * 5000,
)  # fmt: skip
_PYTHON2 = b"print 'cuda', x\nexec 'x'\nraise E, 'm'\nx = 0777L\nexcept E, e:\n"
_CONFLICT = (b"<<<<<<< HEAD\n", b"=======\n", b">>>>>>> b\n")
_OPENERS = (b"(", b"[", b"{", b"-", b"not ", b"$(", b"`", b"- ", b"if x:\n", b"a.", b"a(", b"'")


def truncated(data: bytes, chance: Random, most: int) -> bytes:
    """End anywhere, also within a character."""
    del most
    return data[: chance.randrange(len(data) + 1)]


def without_a_piece(data: bytes, chance: Random, most: int) -> bytes:
    """Lose a stretch in the middle."""
    del most
    start = chance.randrange(len(data) + 1)
    return data[:start] + data[start + chance.randrange(20) :]


def with_a_token(data: bytes, chance: Random, most: int) -> bytes:
    """Get something that has a meaning where it does not belong."""
    del most
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(data) + 1)
        data = data[:at] + chance.choice(_TOKENS) + data[at:]
    return data


def with_odd_characters(data: bytes, chance: Random, most: int) -> bytes:
    """Get characters that end lines elsewhere, cannot be seen, or are no text."""
    del most
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(_ODD).encode() + data[at:]


def with_noise(data: bytes, chance: Random, most: int) -> bytes:
    """Have bytes replaced by others, valid or not."""
    del most
    made = bytearray(data)
    for _ in range(min(len(made), chance.randrange(1, 6))):
        made[chance.randrange(len(made))] = chance.randrange(256)
    return bytes(made)


def in_another_encoding(data: bytes, chance: Random, most: int) -> bytes:
    """Be written as something else than UTF-8, marked as it or not."""
    del most
    text = data.decode("utf-8", "replace")
    return chance.choice(
        [
            codecs.BOM_UTF16_LE + text.encode("utf-16-le", "replace"),
            text.encode("utf-16-be", "replace"),
            codecs.BOM_UTF8 + data,
            codecs.BOM_UTF32_BE + data,
            text.encode("latin-1", "replace"),
            b"# coding: utf-16\n" + data,
            b"# coding: idna\n" + data,
            b"# coding: latin-1\n" + text.encode("latin-1", "replace"),
            b"# coding: xyzzy\n" + data,
        ]
    )


def with_other_line_ends(data: bytes, chance: Random, most: int) -> bytes:
    """End lines in another way, or not at all."""
    del most
    ends = [b"\r\n", b"\r", b"", b" ", b"\n\n", b"\\\n", b"\x0b"]
    return data.replace(b"\n", chance.choice(ends))


def with_lines_moved(data: bytes, chance: Random, most: int) -> bytes:
    """Have lines doubled, lost and shuffled."""
    del most
    lines = data.splitlines(keepends=True) or [b""]
    return b"".join(chance.choice(lines) for _ in range(chance.randrange(2 * len(lines) + 1)))


def in_python_2(data: bytes, chance: Random, most: int) -> bytes:
    """Hold what Python 3 no longer reads."""
    del most
    lines = _PYTHON2.splitlines(keepends=True)
    return chance.choice(lines) + data + chance.choice(lines)


def in_conflict(data: bytes, chance: Random, most: int) -> bytes:
    """Hold an unresolved merge."""
    del most
    lines = data.splitlines(keepends=True)
    places = sorted(chance.randrange(len(lines) + 1) for _ in _CONFLICT)
    for place, mark in reversed(list(zip(places, _CONFLICT, strict=True))):
        lines.insert(place, mark)
    return b"".join(lines)


def nested(data: bytes, chance: Random, most: int) -> bytes:
    """Hold brackets, blocks or operators in each other, closed or not."""
    opener = chance.choice(_OPENERS)
    depth = min(most, chance.choice([50, 200, 1000, 5000, 100_000]))
    close = {b"(": b")", b"[": b"]", b"{": b"}", b"$(": b")", b"a(": b")"}.get(opener, b"")
    middle = opener * depth + b"x" + (close * depth if chance.random() < 0.5 else b"")
    at = chance.choice([0, len(data), chance.randrange(len(data) + 1)])
    return data[:at] + middle + data[at:]


def very_long(data: bytes, chance: Random, most: int) -> bytes:
    """Have one endless line, or endlessly many."""
    size = min(most, chance.choice([10_000, 300_000, 20_000_000]))
    units = [b"x", b"cuda ", b"'a', ", b"a.", b"1+", b"{{ x }}", b"\\", "é".encode(), data]
    unit = chance.choice(units)
    middle = (unit or b"x") * (size // len(unit or b"x"))
    at = chance.choice([0, len(data), chance.randrange(len(data) + 1)])
    return data[:at] + middle + data[at:]


MUTATIONS: Mapping[str, Callable[[bytes, Random, int], bytes]] = {
    function.__name__: function
    for function in (
        truncated,
        without_a_piece,
        with_a_token,
        with_odd_characters,
        with_noise,
        in_another_encoding,
        with_other_line_ends,
        with_lines_moved,
        in_python_2,
        in_conflict,
        nested,
        very_long,
    )
}
"""By name; each takes the file, a source of chance and the most bytes it may add."""
