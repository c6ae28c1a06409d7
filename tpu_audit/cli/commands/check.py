"""``tpu-audit check``: find CUDA assumptions in code, configs, dependencies, infrastructure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tpu_audit.cli import gate, outputs
from tpu_audit.cli.app import App, current_app
from tpu_audit.cli.check_options import check_options, rule_options
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.options import Setting
from tpu_audit.cli.report_options import (
    SEVERITY_NAMES,
    gate_options,
    planned_outputs,
    report_options,
    warn_of_hidden,
)
from tpu_audit.render.check.formats import CHECK_FORMATS
from tpu_audit.types.errors import ExitCode

if TYPE_CHECKING:
    from tpu_audit.render.interface import View
    from tpu_audit.types.check import CheckReport

_EPILOG = """\b
Examples:
  tpu-audit check .
  tpu-audit check train.py Dockerfile --select TPA1,TPA2 -v
  tpu-audit check . --diff main -f github
"""


@click.command(cls=Command, epilog=_EPILOG)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@report_options(CHECK_FORMATS)
@rule_options()
@click.option(
    "--min-severity",
    cls=Setting,
    type=click.Choice(SEVERITY_NAMES),
    default="info",
    help="Least severity to report.",
)
@click.option(
    "--diff",
    metavar="BASE",
    help="Report only lines changed since this git revision.",
)
@click.option(
    "--statistics", is_flag=True, default=False, help="Show counts by rule, not the findings."
)
@click.option(
    "--show-suppressed",
    is_flag=True,
    default=False,
    help="List what comments and settings left out.",
)
@gate_options()
@click.option("--cache/--no-cache", cls=Setting, default=True, help="Reuse results.")
@click.pass_context
def command(ctx: click.Context, /, paths: tuple[str, ...], **settings: Any) -> ExitCode:
    """Find CUDA assumptions in code, configs, dependencies and infrastructure.

    PATH is a file or a folder: Python, notebooks, YAML, JSON, TOML, INI, requirements, Dockerfiles,
    Kubernetes, shell and Slurm scripts, CI workflows, makefiles, C++. Nothing is run or changed.
    """
    app = current_app()
    planned = planned_outputs(ctx, settings)
    report = _check(app, paths, settings)
    outputs.write(app.out, planned, lambda fmt, view: _rendered(fmt, report, view, settings))
    return _conclude(app, report, settings)


def _check(app: App, paths: tuple[str, ...], settings: dict[str, Any]) -> CheckReport:
    from tpu_audit.check.run import check  # not for --help

    options = check_options(app, settings)
    if not app.out.shows_progress():
        return check(paths, options=options)
    from tpu_audit.cli.progress import LiveFiles  # only for terminals

    with LiveFiles(app.out) as progress:
        return check(paths, options=options, progress=progress)


def _rendered(fmt: str, report: CheckReport, view: View, settings: dict[str, Any]) -> str:
    from tpu_audit.render.check.formats import check_renderer  # not for --help
    from tpu_audit.render.check.view import CheckView  # as above

    look = CheckView(
        width=view.width,
        color=view.color,
        verbosity=view.verbosity,
        statistics=settings["statistics"],
        show_suppressed=settings["show_suppressed"],
    )
    return check_renderer(fmt).render(report, look)


def _conclude(app: App, report: CheckReport, settings: dict[str, Any]) -> ExitCode:
    """Return the exit code; what it hides is said on stderr."""
    failing = gate.at_or_above(report.findings, settings["fail_on"])
    if not failing:
        return ExitCode.CLEAN
    if settings["exit_zero"]:
        warn_of_hidden(app.out, failing)
        return ExitCode.CLEAN
    return ExitCode.FINDINGS
