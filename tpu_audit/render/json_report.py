"""The JSON report: the report's own types, field for field, in a stable order."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tpu_audit.render.interface import View
    from tpu_audit.types.report import Report


class JsonRenderer:
    """One JSON object, indented, ASCII only, without NaN or Infinity."""

    def render(self, report: Report, view: View) -> str:  # noqa: ARG002 - no terminal here
        """Return ``report`` as JSON text (schema: ``tpu-audit config schema --report``)."""
        return dumps(report)


def dumps(value: object) -> str:
    """Return any result of this tool as JSON text that ends in a newline."""
    return json.dumps(jsonable(value), indent=2, allow_nan=False) + "\n"


def jsonable(value: Any) -> Any:
    """Return ``value`` as JSON types; dataclasses become objects in the order of their fields.

    Written by hand because pydantic's serialiser costs more to import than a cached scan may take.
    """
    result: Any
    match value:
        case Enum():
            result = value.value
        case str():
            result = _utf8(value)
        case float() if not math.isfinite(value):
            # JSON has no infinity, and a mask filled with -inf is a common argument.
            result = str(value)
        case None | int() | float():
            result = value
        case Mapping():
            result = {_key(key): jsonable(item) for key, item in value.items()}
        case list() | tuple():
            result = [jsonable(item) for item in value]
        case _ if is_dataclass(value):
            kind: Any = type(value)
            result = {name: jsonable(getattr(value, name)) for name in _names(kind)}
        case _:
            result = _utf8(str(value))
    return result


def _key(key: Any) -> str:
    return _utf8(str(key.value) if isinstance(key, Enum) else str(key))


def _utf8(text: str) -> str:
    """Replace lone surrogates: other JSON readers refuse them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
