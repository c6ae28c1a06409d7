"""``tpu-audit fix``: repair what ``check`` finds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from tpu_audit.cli.app import App, current_app
from tpu_audit.cli.check_options import check_options, rule_options
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.options import Setting, format_option
from tpu_audit.render.text import plural
from tpu_audit.types.errors import ExitCode

if TYPE_CHECKING:
    from tpu_audit.fix.run import FixReport

_EPILOG = """\b
Examples:
  tpu-audit fix .
  tpu-audit fix train.py --write
  tpu-audit fix . --select TPA1 --unsafe-fixes --write

\b
Exit codes: 0 nothing to repair, or all written; 1 repairs are shown and not written.
"""


@click.command(cls=Command, epilog=_EPILOG)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@format_option("console", "json")
@rule_options()
@click.option("--write", is_flag=True, default=False, help="Write the repairs to the files.")
@click.option(
    "--unsafe-fixes",
    cls=Setting,
    is_flag=True,
    default=False,
    help="Make repairs too that may change what the code does somewhere.",
)
def command(paths: tuple[str, ...], fmt: str, **settings: Any) -> ExitCode:
    """Repair what `check` finds: shows a diff, writes with --write.

    Only repairs that keep the behaviour on CUDA and CPU are made, unless --unsafe-fixes is given.
    A file that would no longer parse is left as it is.
    """
    app = current_app()
    report = _fix(app, paths, settings)
    changed = [one for one in report.files if one.result.after != one.result.before]
    if fmt == "json":
        app.out.json(_as_json(report, written=settings["write"]))
    elif not settings["write"]:
        _show(app, report)
    _summarise(app, report, written=settings["write"])
    return ExitCode.FINDINGS if changed and not settings["write"] else ExitCode.CLEAN


def _fix(app: App, paths: tuple[str, ...], settings: dict[str, Any]) -> FixReport:
    from tpu_audit.fix.run import fix  # not for --help

    options = check_options(app, settings)
    choice = {"unsafe": settings["unsafe_fixes"], "write": settings["write"]}
    if not app.out.shows_progress():
        return fix(paths, options=options, **choice)
    from tpu_audit.cli.progress import LiveFiles  # only for terminals

    with LiveFiles(app.out) as progress:
        return fix(paths, options=options, progress=progress, **choice)


def _show(app: App, report: FixReport) -> None:
    from tpu_audit.render.diff import unified  # not for --help

    color = app.out.view().color
    for one in report.files:
        app.out.data(unified(one.path, one.result.before, one.result.after, color=color))


def _summarise(app: App, report: FixReport, *, written: bool) -> None:
    """Say on stderr what was done, what was not, and how to go on."""
    applied: Counter[str] = sum((one.result.applied for one in report.files), Counter())
    refused: Counter[str] = sum((one.result.refused for one in report.files), Counter())
    files = sum(one.result.after != one.result.before for one in report.files)
    verb = "repaired" if written else "would repair"
    if not files:
        app.out.note("nothing to repair")
    else:
        app.out.note(f"{verb} {plural(applied.total(), 'finding')} in {plural(files, 'file')}")
    if refused:
        codes = ", ".join(f"{code} ({count})" for code, count in sorted(refused.items()))
        app.out.warning(f"left out, since the file would no longer parse: {codes}")
    if report.unsafe:
        app.out.note(f"{plural(report.unsafe, 'more repair')} with --unsafe-fixes")
    if report.left:
        app.out.note(f"{plural(report.left, 'finding')} without a repair: see `tpu-audit check`")
    for text in report.notes:
        app.out.warning(text)


def _as_json(report: FixReport, *, written: bool) -> dict[str, Any]:
    from tpu_audit.render.diff import unified  # not for --help

    return {
        "written": written,
        "files": [
            {
                "path": one.path,
                "applied": dict(sorted(one.result.applied.items())),
                "refused": dict(sorted(one.result.refused.items())),
                "diff": unified(one.path, one.result.before, one.result.after),
            }
            for one in report.files
        ],
        "unsafe": report.unsafe,
        "left": report.left,
    }
