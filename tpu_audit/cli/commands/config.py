"""``tpu-audit config``: settings, where they come from, what may be set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from tpu_audit.cli import settings
from tpu_audit.cli.app import App, current_app
from tpu_audit.cli.lazy import LazyGroup
from tpu_audit.cli.options import Setting, format_option
from tpu_audit.cli.outputs import write_atomically
from tpu_audit.cli.params import Output
from tpu_audit.cli.root import ENV_PREFIX, root
from tpu_audit.cli.settings_file import OWN_NAME
from tpu_audit.cli.settings_schema import settings_schema, settings_template
from tpu_audit.types.errors import UsageError


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """One setting in force."""

    key: str
    value: Any
    origin: str
    """``command line``, an environment variable, a file's path, or ``default``."""


@click.group(cls=LazyGroup)
def command() -> None:
    """Show settings with their origins, write a settings file, print schemas.

    Order: command line, then TPU_AUDIT_* variables, then the nearest tpu-audit.toml or
    pyproject.toml with [tool.tpu-audit], then defaults.
    """


@command.command()
@format_option("console", "json")
def show(fmt: str) -> None:
    """Print every setting with its value and where it comes from."""
    app = current_app()
    found = in_force(click.get_current_context().find_root(), app)
    if fmt == "json":
        file = app.settings.path
        app.out.json({"file": str(file) if file else None, "settings": found})
        return
    app.out.table(
        ("setting", "value", "origin"),
        [(item.key, _shown(item.value), item.origin) for item in found],
    )


@command.command()
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def init(*, force: bool) -> None:
    """Write a commented tpu-audit.toml into the current folder."""
    path = Path(OWN_NAME)
    if path.exists() and not force:
        raise UsageError(f"{OWN_NAME} exists already", hint="--force overwrites it")
    write_atomically(path, settings_template(_tables(click.get_current_context().find_root())))
    current_app().out.note(f"wrote {path.resolve()}")


@command.command()
@click.option("--report", is_flag=True, help="The schema of a scan's JSON report instead.")
@click.option("--check-report", is_flag=True, help="The schema of a check's JSON report instead.")
def schema(*, report: bool, check_report: bool) -> None:
    """Print the JSON schema of the settings file, or of a JSON report."""
    out = current_app().out
    if report or check_report:
        from tpu_audit.render.schema import check_schema, report_schema  # pydantic is slow

        out.json(report_schema() if report else check_schema())
    else:
        out.json(settings_schema(_tables(click.get_current_context().find_root())))


def _tables(ctx: click.Context) -> dict[str, settings.Known]:
    return settings.known_settings(root, ctx)


def in_force(ctx: click.Context, app: App) -> list[Origin]:
    """Return every setting with its value and origin; ``ctx`` is the root context."""
    file = str(app.settings.path) if app.settings.path else ""
    found = []
    for table, known in _tables(ctx).items():
        scope = _context(ctx, table)
        for key, setting in known.items():
            value, source = setting.consume_value(scope, {})
            value = setting.type_cast_value(scope, value)
            if setting.name in app.typed:
                value, source = _typed(app, setting), ParameterSource.COMMANDLINE
            name = f"{table}.{key}" if table else key
            origin = _origin(source, scope, setting, file)
            found.append(Origin(key=name, value=_plain(value), origin=origin))
    return found


def _context(ctx: click.Context, table: str) -> click.Context:
    """Return a context in which the options of the command ``table`` find their values."""
    scope = ctx
    for name in filter(None, table.split(".")):
        group = scope.command
        found = group.get_command(scope, name) if isinstance(group, click.Group) else None
        if found is None:
            break
        scope = click.Context(found, info_name=name, parent=scope)
    return scope


def _typed(app: App, setting: Setting) -> Any:
    """Return the value of a global option that stands on the command line."""
    values = {"cache_dir": app.cache_dir, "color": app.out.color, "progress": app.out.progress}
    return values[setting.name or ""]


def _origin(source: ParameterSource, ctx: click.Context, setting: Setting, file: str) -> str:
    match source:
        case ParameterSource.COMMANDLINE:
            return "command line"
        case ParameterSource.ENVIRONMENT:
            own = setting.envvar if isinstance(setting.envvar, str) else None
            return own or f"{ctx.auto_envvar_prefix or ENV_PREFIX}_{(setting.name or '').upper()}"
        case ParameterSource.DEFAULT_MAP:
            return file
        case _:
            return "default"


def _plain(value: Any) -> Any:
    """Return a setting's value as it is written in a file."""
    if isinstance(value, tuple):
        flat = [part for item in value for part in (item if isinstance(item, tuple) else (item,))]
        return [_plain(part) for part in flat]
    if isinstance(value, Output):
        return f"{value.fmt}={value.path}"
    return str(value) if isinstance(value, Path) else value


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) or "-" if isinstance(value, list) else str(value)
