"""The options that ``scan`` and ``check`` share: where reports go, what fails the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click
from click.core import ParameterSource

from tpu_audit.cli import gate, outputs
from tpu_audit.cli.options import Setting, together
from tpu_audit.cli.params import OutputSpec
from tpu_audit.render.text import plural
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any

    from tpu_audit.cli.out import Out
    from tpu_audit.cli.params import Output

F = TypeVar("F", bound="Callable[..., Any]")

SEVERITY_NAMES = tuple(severity.value for severity in Severity)
"""What an option that takes a severity offers."""


def report_options(formats: Collection[str]) -> Callable[[F], F]:
    """Add ``-f`` and ``-o`` with the names of the formats there are."""
    return together(
        click.option(
            "-f",
            "--format",
            "fmt",
            cls=Setting,
            type=click.Choice(list(formats)),
            default="console",
            help="What to print on stdout.",
        ),
        click.option(
            "-o",
            "--output",
            cls=Setting,
            type=OutputSpec(formats),
            multiple=True,
            default=(),
            metavar="FORMAT=PATH",
            help="Also write a report to a file, '-' for stdout; repeatable.",
        ),
    )


def gate_options() -> Callable[[F], F]:
    """Add ``--fail-on`` and ``--exit-zero``."""
    return together(
        click.option(
            "--fail-on",
            cls=Setting,
            type=click.Choice((*SEVERITY_NAMES, gate.NEVER)),
            default="error",
            help="Least severity of a finding that makes the exit code 1.",
        ),
        click.option(
            "--exit-zero",
            cls=Setting,
            is_flag=True,
            default=False,
            help="Exit 0 even with findings.",
        ),
    )


def planned_outputs(ctx: click.Context, settings: dict[str, Any]) -> list[Output]:
    """Return the outputs that ``report_options`` chose; UsageError when they cannot be written."""
    fmt_given = ctx.get_parameter_source("fmt") is ParameterSource.COMMANDLINE
    return outputs.plan(settings["fmt"], settings["output"], fmt_given=fmt_given)


def warn_of_hidden(out: Out, findings: int) -> None:
    """Say on stderr how many ``findings`` --exit-zero keeps out of the exit code."""
    out.warning(f"--exit-zero: the exit code hides {plural(findings, 'finding')}")
