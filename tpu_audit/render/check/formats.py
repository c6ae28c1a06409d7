"""The table of the checker's formats; a format's module is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tpu_audit.render.check.view import CheckRenderer

CHECK_FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "console": "tpu_audit.render.check.console:ConsoleRenderer",
        "json": "tpu_audit.render.check.json_report:JsonRenderer",
        "concise": "tpu_audit.render.check.concise:ConciseRenderer",
        "github": "tpu_audit.render.check.github:GithubRenderer",
    }
)
"""Name of the format -> ``module:class``. A new format is one line here and one module."""


def check_renderer(name: str) -> CheckRenderer:
    """Return the renderer of the format ``name``; KeyError when there is none."""
    module, _, attribute = CHECK_FORMATS[name].partition(":")
    return cast("CheckRenderer", getattr(import_module(module), attribute)())
