"""The JSON of strangers."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

import pytest

from tests.support.configs import CONFIGS
from tpu_audit.sources.strict_json import MAX_DEPTH, BadJsonError, parse_object, read_object

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 1 << 20


def nested(depth: int) -> bytes:
    """Give an object that is ``depth`` levels deep."""
    return b'{"a":' * depth + b"1" + b"}" * depth


@pytest.mark.parametrize(
    ("raw", "words", "code"),
    [
        (b"", "empty", "malformed_config"),
        (b" \n", "empty", "malformed_config"),
        (b"[1]", "a list", "malformed_config"),
        (b'"x"', "a string", "malformed_config"),
        (b"3", "a number", "malformed_config"),
        (b"null", "null", "malformed_config"),
        (b"true", "a boolean", "malformed_config"),
        (b"{'a': 1}", "not JSON", "malformed_config"),
        (b'{"a": 1,}', "line 1 column", "malformed_config"),
        (b'{"a": 1', "not JSON", "malformed_config"),
        (b'{"a": "\xff"}', "not UTF-8 (byte 7)", "malformed_config"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8", "malformed_config"),
        (b"<!doctype html><html>", "HTML", "malformed_config"),
        (b'{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> x\n}', "merge", "malformed_config"),
        (b'{\r\n<<<<<<< HEAD\r\n"a": 1\r\n}', "merge", "malformed_config"),
        (nested(MAX_DEPTH + 1), "deeper", "malformed_config"),
        (nested(100_000), "deeper", "malformed_config"),
        (b'{"a":' + b"[" * 100_000, "deeper", "malformed_config"),
        (b'{"a": ' + b"9" * 5000 + b"}", "number", "malformed_config"),
    ],
)
def test_refused(raw: bytes, words: str, code: str) -> None:
    """Each defect has its own words and never another exception."""
    with pytest.raises(BadJsonError) as caught:
        parse_object(raw)
    assert words in caught.value.detail
    assert caught.value.code == code


def test_real_pointer_and_truncation() -> None:
    """A published Git LFS pointer and a published file without its first brace are named."""
    with pytest.raises(BadJsonError) as caught:
        read_object(CONFIGS / "BAAI/bge-large-zh-v1.5/config.json", limit=LIMIT)
    assert caught.value.code == "lfs_pointer"
    assert "git lfs pull" in (caught.value.hint or "")
    with pytest.raises(BadJsonError, match="Extra data, line 1 column 16"):
        read_object(CONFIGS / "briaai/BRIA-3.2/transformer/config.json", limit=LIMIT)


@pytest.mark.parametrize(
    ("raw", "content", "words"),
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}, "byte order mark"),
        (b'{"a": 1, "b": 2, "a": 3}', {"a": 3, "b": 2}, "'a' stands twice"),
        (b'{"a": Infinity}', {"a": math.inf}, "Infinity"),
        (b'{"a": [-Infinity]}', {"a": [-math.inf]}, "-Infinity"),
        (b'{"a\\ud800": ["\\udfff"]}', {"a\ufffd": ["\ufffd"]}, "surrogates"),
    ],
)
def test_accepted_with_a_note(raw: bytes, content: dict[str, object], words: str) -> None:
    """What can be read is read, and the oddity is told."""
    document = parse_object(raw)
    assert document.content == content
    assert [note for note in document.notes if words in note]


def test_accepted_silently() -> None:
    """CRLF, wide integers, real emoji escapes and the depth limit itself are nothing to tell."""
    for raw in (b'{\r\n"a": 1\r\n}\r\n', nested(MAX_DEPTH), b'{"a": "\\ud83d\\ude00"}'):
        assert parse_object(raw).notes == ()
    assert parse_object(b'{"a": ' + b"9" * 400 + b"}").content["a"] > 10**399


def test_a_million_equal_keys_take_no_time() -> None:
    """Telling duplicates apart is linear: a hostile file does not stall the scan."""
    document = parse_object(b"{" + b",".join([b'"k": 1'] * 300_000) + b"}")
    assert document.content == {"k": 1}


def test_nan_survives() -> None:
    """NaN is accepted as transformers accepts it."""
    assert math.isnan(parse_object(b'{"a": NaN}').content["a"])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """Too large, missing, a folder and a pipe are refused; the pipe does not block."""
    big = tmp_path / "big.json"
    big.write_text('{"a": "' + "x" * 100 + '"}')
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, code in (
        (big, "too_large"),
        (tmp_path / "none", "unreadable"),
        (tmp_path, "malformed_config"),
        (pipe, "malformed_config"),
    ):
        with pytest.raises(BadJsonError) as caught:
            read_object(path, limit=100)
        assert caught.value.code == code
