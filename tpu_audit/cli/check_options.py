"""The options that ``check`` and ``fix`` share: which rules, which files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tpu_audit.cli.options import PatternTable, SharedSetting, together

if TYPE_CHECKING:
    from tpu_audit.check.options import CheckOptions
    from tpu_audit.cli.app import App

F = TypeVar("F", bound=Callable[..., Any])


def ignore_option(text: str) -> Callable[[F], F]:
    """Add ``--ignore``, explained by ``text``."""
    return click.option(
        "--ignore",
        cls=SharedSetting,
        multiple=True,
        default=(),
        callback=flat_codes,
        metavar="CODE[,...]",
        help=text,
    )


def rule_options() -> Callable[[F], F]:
    """Add the options that choose rules and files."""
    return together(
        click.option(
            "--select",
            cls=SharedSetting,
            multiple=True,
            default=(),
            callback=flat_codes,
            metavar="CODE[,...]",
            help="Rules to run, by code, prefix (TPA1) or name; repeatable. Default: all stable.",
        ),
        ignore_option("Rules not to run; repeatable."),
        click.option(
            "--preview",
            cls=SharedSetting,
            is_flag=True,
            default=False,
            help="Run the rules that are still on trial too.",
        ),
        click.option(
            "--per-file-ignores",
            cls=PatternTable,
            metavar="PATTERN:CODE[,...]",
            help="Rules that do not count in some files (tests/**:TPA1); repeatable.",
        ),
        _file_options(),
    )


def _file_options() -> Callable[[F], F]:
    return together(
        click.option(
            "--exclude",
            cls=SharedSetting,
            multiple=True,
            default=(),
            metavar="PATTERN",
            help="Files and folders to leave out; repeatable.",
        ),
        click.option(
            "--gitignore/--no-gitignore",
            cls=SharedSetting,
            default=True,
            help="Leave out what git ignores.",
        ),
        click.option(
            "--jobs",
            cls=SharedSetting,
            type=click.IntRange(1, 256),
            default=None,
            metavar="N",
            help="Processes to use. Default: one a core.",
        ),
    )


def flat_codes(
    ctx: click.Context,  # noqa: ARG001 - click's signature
    param: click.Parameter,  # noqa: ARG001 - click's signature
    value: tuple[str, ...],
) -> tuple[str, ...]:
    """Split the lists of a repeated option at their commas; each code once."""
    words = (word.strip() for text in value for word in text.split(","))
    return tuple(dict.fromkeys(filter(None, words)))


def check_options(app: App, settings: dict[str, Any]) -> CheckOptions:
    """Return the checker's options from those of the command line."""
    from tpu_audit.check.options import CheckOptions  # not for --help
    from tpu_audit.types.report import Severity  # as above

    return CheckOptions(
        select=settings["select"],
        ignore=settings["ignore"],
        preview=settings["preview"],
        per_file_ignores=settings["per_file_ignores"],
        exclude=settings["exclude"],
        respect_gitignore=settings["gitignore"],
        min_severity=Severity(settings.get("min_severity", "info")),
        diff_base=settings.get("diff"),
        cache_dir=app.cache_dir if settings.get("cache", True) else None,
        jobs=settings["jobs"],
    )
