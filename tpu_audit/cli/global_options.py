"""The global options: before the command, where all of them go, and after it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from tpu_audit.cli.app import App, current_app
from tpu_audit.cli.options import Setting

COLORS = ("auto", "always", "never")


def early_options() -> list[click.Parameter]:
    """Return the options of ``tpu-audit`` itself; files and ``TPU_AUDIT_*`` may set them."""
    return _options(Setting, auto_env=True)


@cache
def late_options() -> tuple[click.Parameter, ...]:
    """Return the same options as each command takes them after its name."""
    return tuple(_options(_Late, auto_env=False))


class _Late(Setting):
    """A global option after the command: it counts only when it was really typed there."""

    def __init__(self, *args: Any, **kw: Any) -> None:
        super().__init__(*args, expose_value=False, callback=_overrule, **kw)


def _overrule(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if param.name and ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE:
        put(current_app(), ctx, param.name, value)


def put(app: App, ctx: click.Context, name: str, value: Any) -> None:
    """Put the value that the global option ``name`` has in ``ctx`` in force."""
    if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
        app.typed.add(name)
    match name:
        case "cache_dir":
            app.cache_dir = Path(value).expanduser()
        case "color":
            app.out.color = value
        case "progress":
            app.out.progress = value
        case "quiet":
            app.out.verbosity = -1 if value else app.out.verbosity
        case "verbose":
            app.out.verbosity = value or app.out.verbosity
        case "debug":
            app.debug = value


def _options(cls: type[Setting], *, auto_env: bool) -> list[click.Parameter]:
    def option(*names: str, kind: type[click.Option] = cls, **kw: Any) -> click.Parameter:
        return kind(names, allow_from_autoenv=auto_env, **kw)

    # How much to say is for the moment, never for a file.
    plain: type[click.Option] = cls if cls is _Late else click.Option
    return [
        option(
            "--cache-dir",
            path="yes",
            default=None,
            metavar="DIR",
            help="Folder for traces and resolutions. Default: the user's cache folder.",
        ),
        option(
            "--color",
            type=click.Choice(COLORS),
            default="auto",
            help="Colour the output; auto honours NO_COLOR and FORCE_COLOR.",
        ),
        option(
            "--progress/--no-progress",
            default=None,
            help="Show progress on stderr. Default: when stderr is a terminal.",
        ),
        option("-q", "--quiet", kind=plain, is_flag=True, help="Say less: verdicts and errors."),
        option(
            "-v",
            "--verbose",
            kind=plain,
            count=True,
            show_default=False,
            help="Say more: every finding, details.",
        ),
        option("--debug", kind=plain, is_flag=True, help="Show a traceback on internal errors."),
    ]
