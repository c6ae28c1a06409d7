"""What a settings file may say, checked against the options themselves, and put in force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from tpu_audit.cli.options import SHARED_VALUES, PatternTable, Setting, SharedSetting
from tpu_audit.cli.suggest import did_you_mean
from tpu_audit.types.errors import UsageError

if TYPE_CHECKING:
    from tpu_audit.cli.settings_file import SettingsFile

Known = dict[str, Setting]


def own_settings(command: click.Command) -> Known:
    """Return the settings among the options of ``command`` by their keys, shared ones too."""
    return {param.key: param for param in command.params if isinstance(param, Setting)}


def leaves(group: click.Group, ctx: click.Context) -> Iterator[tuple[str, click.Command]]:
    """Yield every command below ``group`` that does something, by its dotted name."""
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if isinstance(command, click.Group):
            yield from ((f"{name}.{sub}", leaf) for sub, leaf in leaves(command, ctx))
        elif command is not None:
            yield name, command


def known_settings(root: click.Group, ctx: click.Context) -> dict[str, Known]:
    """Return all settings: the table they stand in (`` `` for the top) -> key -> option."""
    top = own_settings(root)
    tables: dict[str, Known] = {"": top}
    for name, command in leaves(root, ctx):
        for key, setting in own_settings(command).items():
            shared = isinstance(setting, SharedSetting)
            (top if shared else tables.setdefault(name, {})).setdefault(key, setting)
    return tables


def apply(file: SettingsFile, root: click.Group, ctx: click.Context) -> None:
    """Make the values of ``file`` the defaults of this run. UsageError names file and key."""
    if not file.values:
        return
    tables = known_settings(root, ctx)
    defaults: dict[str, Any] = {}
    for key, value in file.values.items():
        if isinstance(value, Mapping) and key in tables:
            checked = {k: _checked(file, tables[key], k, v, f"{key}.{k}") for k, v in value.items()}
            defaults[key] = {tables[key][k].name: v for k, v in checked.items()}
        else:
            valid = {**dict.fromkeys(name for name in tables if name), **tables[""]}
            defaults[key] = _checked(file, valid, key, value, key)
    top = tables[""]
    shared = {k: v for k, v in defaults.items() if isinstance(top.get(k), SharedSetting)}
    ctx.meta[SHARED_VALUES] = shared
    ctx.default_map = {
        (top[key].name or key) if key in top else key: value
        for key, value in defaults.items()
        if key not in shared
    }


def _checked(
    file: SettingsFile, known: Mapping[str, Setting | None], key: str, value: Any, name: str
) -> Any:
    """Return ``value`` as its option takes it."""
    if key not in known:
        near = did_you_mean(key, known)
        listing = f"valid keys here: {', '.join(sorted(known)) or 'none'}"
        raise UsageError(f"{file.path}: unknown setting '{name}'", hint=near or listing)
    setting = known[key]
    wanted = "a table" if setting is None else wrong_type(setting, value)
    if wanted or setting is None:
        hint = "`tpu-audit config schema` lists every setting with its type"
        raise UsageError(f"{file.path}: {name} = {value!r}: must be {wanted}", hint=hint)
    if isinstance(setting, PatternTable):
        value = setting.rows(value)
    if isinstance(value, str) and file.path is not None:
        value = setting.located(value, file.path.parent)
    try:
        setting.type_cast_value(click.get_current_context(), value)
    except click.BadParameter as error:
        raise UsageError(f"{file.path}: {name} = {value!r}: {error.message}") from error
    return value


def wrong_type(setting: Setting, value: Any) -> str | None:
    """Say which type ``setting`` wants when ``value`` has another one; else None."""
    match json_type(setting):
        case "boolean":
            return None if isinstance(value, bool) else "true or false"
        case "integer":
            return None if type(value) is int else "a whole number"
        case "number":
            return None if type(value) in {int, float} else "a number"
        case "object":
            lists = isinstance(value, Mapping) and all(map(_strings, value.values()))
            return None if lists else "a table of lists of strings"
        case "array":
            return None if _strings(value) else "a list of strings"
        case _:
            return None if isinstance(value, str) else "a string"


def _strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def json_type(setting: Setting) -> str:
    """Return the JSON type of a setting's value."""
    if setting.is_flag:
        return "boolean"
    if isinstance(setting, PatternTable):
        return "object"
    if setting.multiple:
        return "array"
    match setting.type:
        case click.types.IntParamType():
            return "integer"
        case click.types.FloatParamType():
            return "number"
        case _:
            return "string"
