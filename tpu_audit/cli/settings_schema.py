"""The settings file described: as a JSON schema for editors, as a template for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from tpu_audit.cli.settings import Known, json_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tpu_audit.cli.options import Setting

_HEAD = """\
# Settings of tpu-audit. Every line is optional; what is commented out shows the default.
# Order: command line, TPU_AUDIT_* variables, this file, defaults.
# In pyproject.toml the same keys go under [tool.tpu-audit].
"""


def settings_schema(tables: Mapping[str, Known]) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of ``tpu-audit.toml``."""
    top = _object(tables[""])
    top["properties"] |= {name: _object(known) for name, known in tables.items() if name}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of tpu-audit",
        **top,
    }


def settings_template(tables: Mapping[str, Known]) -> str:
    """Return a ``tpu-audit.toml`` that holds every setting, commented out, with its meaning."""
    parts = [_HEAD]
    for name, known in tables.items():
        if name:
            parts.append(f"\n[{name}]")
        parts += [_entry(setting) for setting in known.values()]
    return "\n".join(parts) + "\n"


def _object(known: Known) -> dict[str, Any]:
    properties = {key: _property(setting) for key, setting in known.items()}
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _property(setting: Setting) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": json_type(setting), "description": setting.help or ""}
    strings = {"type": "array", "items": {"type": "string"}}
    if schema["type"] == "object":
        return schema | {"additionalProperties": strings, "default": {}}
    if setting.multiple:
        schema["items"] = strings["items"]
    match setting.type:
        case click.Choice(choices=choices):
            schema["enum"] = list(choices)
        case click.IntRange(min=low, max=high) | click.FloatRange(min=low, max=high):
            # click's open bounds are JSON schema's exclusive ones
            low_name = "exclusiveMinimum" if setting.type.min_open else "minimum"
            schema |= {k: v for k, v in ((low_name, low), ("maximum", high)) if v is not None}
    if _has_default(setting):
        schema["default"] = _default(setting)
    return schema


def _entry(setting: Setting) -> str:
    value = json.dumps(_default(setting)) if _has_default(setting) else _example(setting)
    return f"# {setting.help}\n# {setting.key} = {value}"


def _has_default(setting: Setting) -> bool:
    return setting.default is not None and not callable(setting.default)


def _default(setting: Setting) -> Any:
    if json_type(setting) == "object":
        return {}
    return list(setting.default) if isinstance(setting.default, tuple) else setting.default


def _example(setting: Setting) -> str:
    """Return a value that shows the type of a setting without a default."""
    if json_type(setting) == "integer":
        return "1"
    if setting.is_flag:
        return "true"
    choices = setting.type.choices if isinstance(setting.type, click.Choice) else ()
    return f'"{next(iter(choices), setting.metavar or setting.key.upper())}"'
