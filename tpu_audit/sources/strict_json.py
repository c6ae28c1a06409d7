"""Reads the JSON of strangers: every defect is either accepted with a note or named.

Accepted: byte order mark, ``Infinity`` and ``NaN`` (Python's json writes them), duplicate keys,
unpaired surrogates. Refused: Git LFS pointers, merge conflicts, other encodings, anything that is
not an object, more than :data:`MAX_DEPTH` levels, integers beyond Python's own limit.
"""

from __future__ import annotations

import json
import re
import stat
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_DEPTH = 64
"""Levels of nesting. Real configs have fewer than ten."""

_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_CONFLICT = re.compile(rb"^(?:<{7} |={7}\r?$|>{7} )", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")


class BadJsonError(Exception):
    """The file cannot be used; callers make an outcome of it.

    ``code`` is a stable slug, ``hint`` says how to fix it.
    """

    def __init__(
        self, detail: str, *, code: str = "malformed_config", hint: str | None = None
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code
        self.hint = hint


@dataclass(frozen=True, kw_only=True, slots=True)
class JsonDocument:
    """A JSON object, and what was odd about it, one sentence each."""

    content: dict[str, Any]
    notes: tuple[str, ...] = ()


def read_object(path: Path, *, limit: int) -> JsonDocument:
    """Read a file of at most ``limit`` bytes that holds one JSON object.

    Raises :class:`BadJsonError`.
    """
    return parse_object(_read(path, limit))


def parse_object(raw: bytes) -> JsonDocument:
    """Parse one JSON object. Raises :class:`BadJsonError`."""
    _refuse_other_formats(raw)
    notes: list[str] = []
    value = _load(_decode(raw, notes), notes)
    if not isinstance(value, dict):
        raise BadJsonError(f"it holds {_kind(value)}, not an object")
    if _has_surrogates(value):
        notes.append("unpaired surrogates in its text were replaced")
        value = _without_surrogates(value)
    return JsonDocument(content=value, notes=tuple(notes))


def too_large(limit: int) -> str:
    """Say that a file is over its limit, as a clause."""
    return f"it is larger than {limit:,} bytes"


def _read(path: Path, limit: int) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for ever
            raise BadJsonError("it is not a regular file")
        with path.open("rb") as file:
            raw = file.read(limit + 1)
    except OSError as error:
        raise BadJsonError(f"it cannot be read ({error.strerror})", code="unreadable") from error
    if len(raw) > limit:
        raise BadJsonError(too_large(limit), code="too_large")
    return raw


def _refuse_other_formats(raw: bytes) -> None:
    if not raw.strip():
        raise BadJsonError("it is empty")
    if raw.startswith(_LFS_POINTER):
        raise BadJsonError(
            "it is a Git LFS pointer, not the file itself",
            code="lfs_pointer",
            hint="run `git lfs pull` in the repository, or download the file",
        )
    if _CONFLICT.search(raw):
        raise BadJsonError("it has merge conflict markers", hint="resolve the conflict")
    if raw.lstrip().startswith(b"<"):
        raise BadJsonError("it is HTML or XML", hint="a download may have saved a web page")


def _decode(raw: bytes, notes: list[str]) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadJsonError(
            f"it is not UTF-8 (byte {error.start})", hint="save it as UTF-8"
        ) from error
    if text.startswith("\ufeff"):
        notes.append("it starts with a byte order mark, which transformers itself refuses")
    return text.removeprefix("\ufeff")


def _load(text: str, notes: list[str]) -> Any:
    constants: set[str] = set()
    repeated: set[str] = set()

    def number(name: str) -> float:
        constants.add(name)
        return float(name)

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            repeated.update(key for key, count in counts.items() if count > 1)
        return result

    try:
        value = json.loads(text, object_pairs_hook=mapping, parse_constant=number)
        _refuse_depth(value)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        near = text[error.pos : error.pos + 30]
        raise BadJsonError(f"it is not JSON: {error.msg}, {where}, at {near!r}") from error
    except RecursionError as error:
        raise BadJsonError(f"it is nested deeper than {MAX_DEPTH} levels") from error
    except ValueError as error:  # the interpreter's limit on digits
        raise BadJsonError(f"it has a number that cannot be read ({error})") from error
    notes += [f"it holds {name}, which is not standard JSON" for name in sorted(constants)]
    notes += [f"key {key!r} stands twice; the last one counts" for key in sorted(repeated)]
    return value


def _refuse_depth(value: Any) -> None:
    """Level by level: recursion is what a hostile file is after."""
    level = [value]
    for _ in range(MAX_DEPTH):
        inners = (inner for outer in level for inner in _children(outer))
        level = [inner for inner in inners if isinstance(inner, dict | list)]
        if not level:
            return
    raise BadJsonError(f"it is nested deeper than {MAX_DEPTH} levels")


def _children(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _has_surrogates(value: Any) -> bool:
    if isinstance(value, str):
        return bool(_SURROGATE.search(value))
    keys = value if isinstance(value, dict) else ()
    return any(map(_has_surrogates, (*keys, *_children(value))))


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(inner) for inner in value]
    if isinstance(value, dict):
        pairs = value.items()
        return {_without_surrogates(key): _without_surrogates(inner) for key, inner in pairs}
    return value


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
