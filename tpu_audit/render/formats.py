"""The table of report formats; a format's module is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tpu_audit.render.interface import Renderer

FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "console": "tpu_audit.render.console:ConsoleRenderer",
        "json": "tpu_audit.render.json_report:JsonRenderer",
    }
)
"""Name of the format -> ``module:class``. A new format is one line here and one module."""


def renderer(name: str) -> Renderer:
    """Return the renderer of the format ``name``; KeyError when there is none."""
    module, _, attribute = FORMATS[name].partition(":")
    return cast("Renderer", getattr(import_module(module), attribute)())
