"""Click commands whose modules are imported when they are called, and that take global options."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from tpu_audit.cli.global_options import late_options
from tpu_audit.cli.suggest import did_you_mean
from tpu_audit.types.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True, slots=True)
class Lazy:
    """Where a command lives, and its line in the list of commands."""

    module: str
    """Module that holds the click command under the name ``command``."""
    help: str
    """One line, so that listing the commands imports none of them."""


class Command(click.Command):
    """A command that takes the global options after its name too."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the command's own parameters and the global options."""
        own = super().get_params(ctx)
        return [*own[:-1], *late_options(), own[-1]]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, the global ones under a heading of their own."""
        late = {param.name for param in late_options()}
        groups: dict[str, list[tuple[str, str]]] = {"Options": [], "Global options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                groups["Global options" if param.name in late else "Options"].append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports the one that is called."""

    command_class = Command

    def __init__(self, *args: Any, lazy: Mapping[str, Lazy] | None = None, **kw: Any) -> None:
        """Take click's arguments and the table of commands."""
        super().__init__(*args, **kw)
        self.lazy = dict(lazy or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of the table."""
        return [*self.lazy, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command ``cmd_name``; None when there is none."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        command = import_module(self.lazy[cmd_name].module).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{self.lazy[cmd_name].module}.command is not a click command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that ``args`` begins with; a wrong name is answered with near ones."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            valid = self.list_commands(ctx)
            near = did_you_mean(name, valid) or f"commands: {', '.join(valid)}"
            raise UsageError(f"no such command '{name}' in `{ctx.command_path}`", hint=near)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        if not self.lazy:
            super().format_commands(ctx, formatter)
            return
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.help) for name, lazy in self.lazy.items()])
