"""Options that settings files may set, and the options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import click
from click.core import ParameterSource

PathKind = Literal["no", "yes", "maybe"]
F = TypeVar("F", bound=Callable[..., Any])


class Setting(click.Option):
    """An option with a key in the settings file: its long name, in the table of its command."""

    def __init__(self, *args: Any, path: PathKind = "no", **kw: Any) -> None:
        """Take click's arguments, and how a settings file's relative value is read.

        ``path``: ``yes``: relative to the folder of the file, ``maybe``: so if that exists.
        """
        kw.setdefault("show_default", True)
        super().__init__(*args, **kw)
        self.path = path

    @property
    def key(self) -> str:
        """The key in the settings file: ``seq-len``."""
        return max(self.opts, key=len).removeprefix("--")

    def located(self, value: str, folder: Path) -> str:
        """Return the file's ``value`` as seen from anywhere."""
        path = folder / Path(value).expanduser()
        resolves = self.path == "yes" or (self.path == "maybe" and path.exists())
        return str(path) if resolves else value


class SharedSetting(Setting):
    """A setting of several commands, whose key stands at the top of the file."""

    def consume_value(
        self, ctx: click.Context, opts: Mapping[str, Any]
    ) -> tuple[Any, ParameterSource]:
        """Return the value and its source; the file's goes before the default."""
        value, source = super().consume_value(ctx, opts)
        shared = ctx.find_root().meta.get(SHARED_VALUES, {})
        if source is ParameterSource.DEFAULT and self.key in shared:
            return shared[self.key], ParameterSource.DEFAULT_MAP
        return value, source


class PatternTable(SharedSetting):
    """``PATTERN:CODE,CODE`` on the command line; in the file a table of patterns with codes."""

    def __init__(self, *args: Any, **kw: Any) -> None:
        """Take click's arguments; the option is repeatable."""
        super().__init__(*args, multiple=True, default=(), **kw)

    def rows(self, table: Mapping[str, list[str]]) -> list[str]:
        """Return the file's table as the command line would say it."""
        return [f"{pattern}:{','.join(codes)}" for pattern, codes in table.items()]


SHARED_VALUES = "tpu_audit.shared_settings"
"""Key of the shared file values in the root context's ``meta``."""


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return one decorator that adds ``options``; --help lists them in the order given."""

    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def format_option(*formats: str) -> Callable[[F], F]:
    """Add ``-f`` with ``formats``, the first being the default."""
    return click.option(
        "-f",
        "--format",
        "fmt",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="What to print.",
    )


def registry_option() -> Callable[[F], F]:
    """Add ``--registry``."""
    return click.option(
        "--registry",
        cls=SharedSetting,
        path="maybe",
        default=None,
        envvar="TPU_AUDIT_REGISTRY",
        metavar="VERSION|PATH",
        help="Registry to judge by: a torch-tpu version (0.2.0), version and torch "
        "(0.2.0+torch2.13), or a snapshot file. Default: the one that fits the installed torch.",
    )
