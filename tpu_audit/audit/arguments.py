"""The arguments a call leaves out, read from the op's schema, and how two values compare."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tpu_audit.types.trace import Scalar

_OPENING, _CLOSING = "([", ")]"


def given(args: Mapping[str, Scalar], when: Mapping[str, object], schema: str) -> bool:
    """Whether a call with ``args`` has every argument of ``when``, defaults included.

    False where the trace does not say: a tensor that may or may not have been passed.
    """
    return all(_same(args, name, value, schema) for name, value in when.items())


def _same(args: Mapping[str, Scalar], name: str, wanted: object, schema: str) -> bool:
    if name in args:
        return comparable(args[name]) == comparable(wanted)
    default = defaults(schema).get(name)
    return default is not None and default == comparable(wanted)


def comparable(value: object) -> str:
    """Return ``value`` as text that equal arguments share: ``1`` for 1.0, ``[1, 2]``, ``int64``."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float):
        return f"{float(value)!r}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(comparable, value))}]"
    text = str(value).removeprefix("torch.")
    return comparable(_parsed(text)) if text.startswith("[") else text


@lru_cache(maxsize=4096)
def defaults(schema: str) -> Mapping[str, str]:
    """Return argument -> default, comparable, of the arguments that are no tensors.

    A tensor that the trace does not name was passed or left out, and it does not say which.
    """
    found = {}
    for argument in _arguments(schema):
        declared, equals, default = argument.partition("=")
        kind, _, name = declared.strip().rpartition(" ")
        if equals and not kind.startswith("Tensor"):
            found[name] = comparable(_parsed(default.strip()))
    return found


def _parsed(text: str) -> object:
    """Read a literal; what is none (``Mean``, ``contiguous_format``) stays text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text.strip("[]").split(", ") if text.startswith("[") else text


def _arguments(schema: str) -> Iterator[str]:
    """Yield the declarations between the outer brackets: ``int dim=-1``."""
    depth, start, quoted = 0, 0, ""
    for place, char in enumerate(schema):
        if quoted:
            quoted = "" if char == quoted and schema[place - 1] != "\\" else quoted
        elif char in "\"'":
            quoted = char
        elif char in _OPENING:
            depth += 1
            start = place + 1 if depth == 1 else start
        elif depth == 1 and char in ",)":
            yield schema[start:place]
            start = place + 1
        if not quoted and char in _CLOSING:
            depth -= 1
            if depth == 0:
                return
