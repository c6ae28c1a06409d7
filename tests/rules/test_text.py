"""Positions: lines, columns in code points, byte offsets."""

from __future__ import annotations

import ast

import pytest

from tpu_audit.rules.hit import Span
from tpu_audit.rules.text import SourceText

TEXT = "aé\r\nb\U0001d54f = 1\rc\n"


def test_lines_end_as_pythons() -> None:
    """Lines end at carriage returns and line feeds, and at no other separator."""
    source = SourceText("a\r\nb\rc\nd\x0be\u2028f")
    assert [source.line(number) for number in range(1, 5)] == ["a", "b", "c", "d\x0be\u2028f"]
    assert len(ast.parse("a\r\nb\rc\nd").body) == 4


@pytest.mark.parametrize("index", range(len(TEXT)))
def test_position_and_index_agree(index: int) -> None:
    """A place turned to line and column and back is the same place."""
    source = SourceText(TEXT)
    assert source.index(*source.position(index)) == index


def test_spans_and_bytes() -> None:
    """A span covers its text, in code points and in bytes."""
    source = SourceText(TEXT)
    start = TEXT.index("\U0001d54f")
    span = source.span(start, start + 5)
    assert span == Span(line=2, column=2, end_line=2, end_column=7)
    assert source.slice(span) == "\U0001d54f = 1"
    low, high = source.byte_range(span)
    assert TEXT.encode()[low:high].decode() == "\U0001d54f = 1"


def test_columns_of_ast() -> None:
    """The byte columns of ``ast`` become columns in code points, and byte offsets."""
    source = SourceText("é = 1; b = 2")
    node = ast.parse(source.text).body[1]
    assert source.column(1, node.col_offset) == 8
    assert source.encoded[source.byte_offset(1, node.col_offset) :] == b"b = 2"


@pytest.mark.parametrize("end", ["", "\n", "\r", "\r\n", "x", "\n\n"])
@pytest.mark.parametrize("middle", ["a\x0bb\x1cc\x0c", "é\x85\u2028", ""])
def test_lines_of_text_and_bytes_agree(middle: str, end: str) -> None:
    """However a text ends and whatever is in it, its last place is the same in points and bytes."""
    text = f"a\n{middle}\rb{end}"
    source = SourceText(text)
    line, column = source.position(len(text))
    assert line == text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    assert source.byte_range(source.span(0, len(text))) == (0, len(text.encode()))
    assert source.index(line, column) == len(text)


def test_lone_surrogates() -> None:
    """A text that is not quite Unicode has positions all the same."""
    source = SourceText("a\ud800b")
    assert source.byte_range(source.span(2, 3)) == (4, 5)
