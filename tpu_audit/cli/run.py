"""Runs the command line; the one place where exceptions become messages and exit codes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from op_registry.errors import RegistryError
from tpu_audit.cli.app import App
from tpu_audit.cli.out import survive_any_encoding
from tpu_audit.cli.root import PROG, root
from tpu_audit.types.errors import ExitCode, TpuAuditError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

SIGPIPE_EXIT = 141
"""What a shell reports of a tool whose reader went away: 128 + SIGPIPE."""
COMPLETE_VAR = "_TPU_AUDIT_COMPLETE"


def run(args: Sequence[str]) -> int:
    """Run ``tpu-audit`` with ``args`` and return the exit code; raises nothing."""
    survive_any_encoding()
    app = App(debug=bool(os.environ.get("TPU_AUDIT_DEBUG")))
    try:
        if COMPLETE_VAR in os.environ:
            root.main(prog_name=PROG, complete_var=COMPLETE_VAR)
        with root.make_context(PROG, list(args), obj=app) as ctx:
            code = root.invoke(ctx)
            sys.stdout.flush()
            return int(code or ExitCode.CLEAN)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show(sys.stderr)
        return ExitCode.USAGE
    except BrokenPipeError:
        return _leave_pipe()
    except (KeyboardInterrupt, click.Abort):
        app.out.note("interrupted")
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last line of defence
        return _report(app, error, args)


def _report(app: App, error: Exception, args: Sequence[str]) -> int:
    """Tell a person about ``error`` and return its exit code."""
    known = _as_known(error)
    if known is not None:
        app.out.error(known)
        return known.exit_code
    from tpu_audit.cli.crash import report_crash  # for accidents only

    report_crash(app, error, args)
    return ExitCode.INTERNAL


def _as_known(error: Exception) -> TpuAuditError | None:
    """Return ``error`` as one of our own; None when nobody foresaw it."""
    match error:
        case TpuAuditError():
            return error
        case RegistryError():
            return UsageError(error.message, hint=error.hint)
        case click.UsageError():
            return UsageError(_sentence(error), hint=_usage_hint(error))
        case click.ClickException():
            return UsageError(error.format_message())
        case _:
            return None


def _sentence(error: click.UsageError) -> str:
    text = error.format_message()
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _usage_hint(error: click.UsageError) -> str | None:
    if error.ctx is None:
        return None
    early = ("--config", "--isolated")
    if isinstance(error, click.NoSuchOption) and error.option_name in early:
        return f"global options go before the command: {PROG} {error.option_name} ..."
    return f"see `{error.ctx.command_path} --help`"


def _leave_pipe() -> int:
    """Point stdout at nothing, so that the interpreter's last flush has nobody to complain to."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    return SIGPIPE_EXIT
