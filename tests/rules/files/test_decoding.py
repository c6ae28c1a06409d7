"""Bytes to text and back: marks, declared encodings, bytes that fit nothing."""

from __future__ import annotations

import codecs

import pytest

from tpu_audit.rules.files.decoding import decode
from tpu_audit.rules.files.errors import NotReadableError


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\r\nb", "a\r\nb"),
        (codecs.BOM_UTF8 + "é".encode(), "é"),
        (codecs.BOM_UTF16_LE + "é".encode("utf-16-le"), "é"),
        (codecs.BOM_UTF16_BE + "é".encode("utf-16-be"), "é"),
        (codecs.BOM_UTF32_LE + "é".encode("utf-32-le"), "é"),
        (b"caf\xe9", "caf\udce9"),
    ],
)
def test_round_trip(data: bytes, text: str) -> None:
    """The text comes out without its mark; written back, every byte is there again."""
    decoded = decode(data)

    assert decoded.text == text
    assert decoded.encode(decoded.text) == data


def test_declared() -> None:
    """Python says its encoding itself."""
    data = b"# -*- coding: latin-1 -*-\nx = 'caf\xe9'\n"
    decoded = decode(data, python=True)

    assert "café" in decoded.text
    assert decoded.encode(decoded.text) == data
    with pytest.raises(UnicodeEncodeError):
        decoded.encode("\u20ac")


@pytest.mark.parametrize(
    ("data", "says", "line"),
    [
        (b"x\n\n\xff", "byte 0xff is not utf-8", 3),
        (b"\xff\n", "neither UTF-8 nor says", 1),
        (b"# coding: xyzzy\n", "declares an encoding that Python lacks", 1),
        (b"# coding: utf-16\n", "declares utf-16, which Python does not read", 1),
        (b"# coding: ascii\n\n\xe9", "byte 0xe9 is not ascii", 3),
        (b"x = '\0'", "null bytes", None),
    ],
)
def test_unreadable_python(data: bytes, says: str, line: int | None) -> None:
    """What Python would not read is refused, with the line where one is to blame."""
    with pytest.raises(NotReadableError, match=says) as caught:
        decode(data, python=True)
    assert caught.value.line == line


def test_binary() -> None:
    """Null bytes are no text, whatever the file is called."""
    with pytest.raises(NotReadableError, match="null bytes"):
        decode(b"PK\x03\x04\0\0")
