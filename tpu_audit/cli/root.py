"""The ``tpu-audit`` command: the table of commands, settings, and global options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tpu_audit import __version__
from tpu_audit.cli import settings, settings_file
from tpu_audit.cli.app import App
from tpu_audit.cli.global_options import early_options, put
from tpu_audit.cli.lazy import Lazy, LazyGroup
from tpu_audit.types.errors import UsageError

PROG = "tpu-audit"
ENV_PREFIX = "TPU_AUDIT"
_HERE = "tpu_audit.cli.commands"

COMMANDS = {
    "scan": Lazy(module=f"{_HERE}.scan", help="Audit models: what breaks, is slow, must change."),
    "check": Lazy(module=f"{_HERE}.check", help="Find CUDA assumptions in code and config files."),
    "fix": Lazy(module=f"{_HERE}.fix", help="Repair what check finds: a diff, or --write."),
    "explain": Lazy(module=f"{_HERE}.explain", help="Explain a rule, a finding code or an op."),
    "registry": Lazy(module=f"{_HERE}.registry", help="Look into what the TPU backend supports."),
    "doctor": Lazy(module=f"{_HERE}.doctor", help="Check the installation and the environment."),
    "cache": Lazy(module=f"{_HERE}.cache", help="Locate, measure and clean the cache."),
    "config": Lazy(module=f"{_HERE}.config", help="Show settings with their origins."),
    "completion": Lazy(module=f"{_HERE}.completion", help="Print a shell completion script."),
}

_EPILOG = """\b
Exit codes: 0 clean, 1 findings at or above --fail-on, 2 usage or input error,
3 some target was not audited, 4 internal error, 130 interrupted.
Every option can be set by TPU_AUDIT_<COMMAND>_<OPTION>, e.g. TPU_AUDIT_SCAN_SEQ_LEN."""


def _apply_settings(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Put the settings file in force before any other option is read: both options are eager."""
    if ctx.resilient_parsing:
        return value
    given = {**ctx.params, param.name: value}
    if given.get("config") and given.get("isolated"):
        raise UsageError("--config names a settings file and --isolated forbids any: choose one")
    if "isolated" in given and "config" in given and not given["isolated"]:
        _use_file(ctx, given["config"])
    return value


def _use_file(ctx: click.Context, path: str | None) -> None:
    app = ctx.ensure_object(App)
    where = Path(path).expanduser() if path else None
    app.settings = settings_file.read(where) if where else settings_file.nearest(Path.cwd())
    group = ctx.command
    if isinstance(group, click.Group):
        settings.apply(app.settings, group, ctx)


@click.pass_context
def _start(ctx: click.Context, /, **params: Any) -> None:
    app = ctx.ensure_object(App)
    app.cache_dir = _default_cache_dir()
    for name, value in params.items():
        if value is not None:
            put(app, ctx, name, value)


def _default_cache_dir() -> Path:
    from platformdirs import user_cache_path  # not for --help

    return user_cache_path("tpu-audit", appauthor=False)


def _config_options() -> list[click.Parameter]:
    return [
        click.Option(
            ("--isolated",),
            is_flag=True,
            is_eager=True,
            expose_value=True,
            callback=_apply_settings,
            help="Ignore every settings file.",
        ),
        click.Option(
            ("--config",),
            default=None,
            is_eager=True,
            callback=_apply_settings,
            metavar="PATH",
            help="Settings file to use. Default: the nearest tpu-audit.toml or pyproject.toml.",
        ),
    ]


root = LazyGroup(
    PROG,
    lazy=COMMANDS,
    callback=_start,
    params=[*early_options(), *_config_options()],
    help="Audit Hugging Face and PyTorch models for the move from CUDA to TPU with TorchTPU, "
    "without a TPU, without weights, without running a model's code.\n\n"
    "Start with: tpu-audit scan bert-base-uncased",
    epilog=_EPILOG,
    context_settings={
        "auto_envvar_prefix": ENV_PREFIX,
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
    },
)
root = click.version_option(__version__, prog_name=PROG, message="%(prog)s %(version)s")(root)
