"""``tpu-audit scan``: audit models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from op_registry.toolchain.chips import CHIPS, DEFAULT_CHIP
from tpu_audit.cli import gate, outputs
from tpu_audit.cli.app import App, current_app
from tpu_audit.cli.check_options import ignore_option
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.options import Setting, registry_option
from tpu_audit.cli.params import DtypeList, flat_dtypes
from tpu_audit.cli.report_options import (
    gate_options,
    planned_outputs,
    report_options,
    warn_of_hidden,
)
from tpu_audit.render.formats import FORMATS, renderer
from tpu_audit.types.errors import ExitCode, UsageError
from tpu_audit.types.trace import ATTENTION, EXPERTS, KV_CACHES, OPTIMIZERS, PHASES

if TYPE_CHECKING:
    from tpu_audit.api import ScanOptions
    from tpu_audit.types.report import Report

_TRACERS = ("pretended", "torch_tpu")
_AUTOCAST = ("bf16", "f16", "f32")

_EPILOG = """\b
Examples:
  tpu-audit scan bert-base-uncased
  tpu-audit scan ./my-model --dtype bf16,f32 --seq-len 2048
  tpu-audit scan org/a org/b@v1.0 -f json -o console=report.txt
  tpu-audit scan train.py:step --with-reference-kernels
"""


@click.command(cls=Command, epilog=_EPILOG)
@click.argument("targets", metavar="TARGET...", nargs=-1, required=True)
@report_options(FORMATS)
@click.option(
    "--dtype",
    "dtypes",
    cls=Setting,
    type=DtypeList(),
    multiple=True,
    default=("bfloat16",),
    callback=flat_dtypes,
    metavar="DTYPE[,...]",
    help="Dtypes to build and trace in: bf16, f16, f32, f64; repeatable.",
)
@click.option(
    "--phase",
    "phases",
    cls=Setting,
    type=click.Choice(PHASES),
    multiple=True,
    default=(),
    help="Phase to trace; repeatable. Default: all that apply to the class, but training.",
)
@click.option(
    "--train", cls=Setting, is_flag=True, default=False, help="Trace a training step as well."
)
@click.option(
    "--attn",
    cls=Setting,
    type=click.Choice(ATTENTION),
    default=None,
    help="Attention implementation. Default: what transformers picks.",
)
@click.option(
    "--experts",
    cls=Setting,
    type=click.Choice(EXPERTS),
    default=None,
    help="Experts implementation. Default: what transformers picks.",
)
@click.option(
    "--kv-cache",
    cls=Setting,
    type=click.Choice(KV_CACHES),
    default=KV_CACHES[0],
    help="Cache that generation fills.",
)
@click.option(
    "--autocast",
    cls=Setting,
    type=click.Choice(_AUTOCAST),
    default=None,
    help="Dtype to autocast to.",
)
@click.option(
    "--optimizer",
    cls=Setting,
    type=click.Choice(OPTIMIZERS),
    default=OPTIMIZERS[0],
    help="Optimizer of the training step.",
)
@click.option(
    "--checkpointing",
    cls=Setting,
    is_flag=True,
    default=False,
    help="Recompute activations in the backward pass.",
)
@click.option(
    "--compile",
    "compiled",
    cls=Setting,
    is_flag=True,
    default=False,
    help="Run each phase under torch.compile too: graph breaks, recompilations.",
)
@click.option(
    "--batch", cls=Setting, type=click.IntRange(1, 65536), default=1, help="Sequences in a batch."
)
@click.option(
    "--seq-len",
    cls=Setting,
    type=click.IntRange(1, 1048576),
    default=128,
    help="Tokens per sequence.",
)
@click.option("--revision", metavar="REV", help="Branch, tag or commit of a hub id.")
@click.option(
    "--offline", cls=Setting, is_flag=True, default=False, help="Use only what is on this machine."
)
@registry_option()
@click.option(
    "--chip",
    cls=Setting,
    type=click.Choice(list(CHIPS)),
    default=DEFAULT_CHIP,
    help="TPU generation to judge for.",
)
@click.option(
    "--with-reference-kernels",
    cls=Setting,
    is_flag=True,
    default=False,
    help="Judge as if op_registry.reference.install() had been called.",
)
@click.option(
    "--tracer",
    cls=Setting,
    type=click.Choice(_TRACERS),
    default="pretended",
    help="Device to trace on: pretended, or torch-tpu's own dispatcher in a child process.",
)
@click.option(
    "--tpu-python",
    cls=Setting,
    path="maybe",
    default=None,
    metavar="PATH",
    help="Python interpreter that has torch-tpu, for --tracer torch_tpu. Default: this one.",
)
@click.option(
    "--python",
    cls=Setting,
    path="maybe",
    default=None,
    metavar="PATH",
    help="Python interpreter to trace with on the pretended device: an environment with another "
    "transformers, or with what a program of yours imports. Default: this one.",
)
@click.option(  # no setting: a file that came with a checkout must not run code
    "--trust-remote-code",
    is_flag=True,
    default=False,
    help="Run a model's own code (auto_map), in a process without network, files or credentials. "
    "Linux only.",
)
@click.option(
    "--check-code/--no-check-code",
    cls=Setting,
    default=True,
    help="Check the model's own Python files and configs too; none is run.",
)
@ignore_option("Rules of that check not to run; repeatable.")
@gate_options()
@click.option(
    "--allow-incomplete",
    cls=Setting,
    is_flag=True,
    default=False,
    help="Do not exit 3 when some target was not audited.",
)
@click.option(
    "--timeout",
    cls=Setting,
    type=click.FloatRange(0, min_open=True),
    default=300.0,
    metavar="SECONDS",
    help="Time limit of one trace.",
)
@click.option(
    "--max-memory",
    cls=Setting,
    type=click.IntRange(256),
    default=8192,
    metavar="MIB",
    help="Memory that one trace may take.",
)
@click.option("--cache/--no-cache", cls=Setting, default=True, help="Reuse traces and resolutions.")
@click.pass_context
def command(ctx: click.Context, /, targets: tuple[str, ...], **settings: Any) -> ExitCode:
    """Audit models for the move to TPU.

    TARGET is a hub id (bert-base-uncased, org/name@revision), a model folder, a config.json, or a
    function of yours (file.py:function, package.module:function). Weights are never downloaded and
    a model's own code is not run, unless --trust-remote-code lets it; a function of yours is.
    """
    app = current_app()
    if settings["revision"] and len(targets) > 1:
        hint = f"write the revision at each target: {targets[0]}@{settings['revision']}"
        raise UsageError("--revision is for a single target", hint=hint)
    planned = planned_outputs(ctx, settings)
    report = _scan(app, targets, settings)
    outputs.write(app.out, planned, lambda fmt, view: renderer(fmt).render(report, view))
    rules = gate.Gate(
        fail_on=settings["fail_on"],
        exit_zero=settings["exit_zero"],
        allow_incomplete=settings["allow_incomplete"],
    )
    return _conclude(app, report, rules)


def _scan(app: App, targets: tuple[str, ...], settings: dict[str, Any]) -> Report:
    from tpu_audit.api import ScanInterrupted, scan  # not for --help

    options = _options(app, settings)
    try:
        if not app.out.shows_progress():
            return scan(targets, options=options)
        from tpu_audit.cli.progress import LiveProgress  # only for terminals

        with LiveProgress(app.out) as progress:
            return scan(targets, options=options, progress=progress)
    except ScanInterrupted as error:
        done = len(error.report.models)
        app.out.note(f"{done} of {len(targets)} targets were done; no report was written")
        raise


def _options(app: App, settings: dict[str, Any]) -> ScanOptions:
    from tpu_audit.api import ScanOptions  # not for --help

    return ScanOptions(
        dtypes=settings["dtypes"],
        phases=settings["phases"],
        train=settings["train"],
        attn=settings["attn"],
        experts=settings["experts"],
        kv_cache=settings["kv_cache"],
        optimizer=settings["optimizer"],
        autocast=settings["autocast"],
        checkpointing=settings["checkpointing"],
        compiled=settings["compiled"],
        batch=settings["batch"],
        seq_len=settings["seq_len"],
        revision=settings["revision"],
        offline=settings["offline"],
        registry=settings["registry"],
        chip=settings["chip"],
        with_reference_kernels=settings["with_reference_kernels"],
        tracer=settings["tracer"],
        tpu_python=settings["tpu_python"],
        python=settings["python"],
        trust_remote_code=settings["trust_remote_code"],
        check_code=settings["check_code"],
        ignore=settings["ignore"],
        cache_dir=app.cache_dir,
        use_cache=settings["cache"],
        timeout_s=settings["timeout"],
        memory_mb=settings["max_memory"],
    )


def _conclude(app: App, report: Report, rules: gate.Gate) -> ExitCode:
    """Return the exit code; what it hides is said on stderr."""
    code = gate.exit_code(report, rules)
    undone = gate.incomplete(report)
    failing = gate.failing(report, rules.fail_on)
    if undone and rules.allow_incomplete and code is not ExitCode.USAGE:
        names = ", ".join(undone[:3]) + (f" and {len(undone) - 3} more" if undone[3:] else "")
        app.out.warning(f"--allow-incomplete: the exit code hides what was not audited: {names}")
    if failing and rules.exit_zero and code is ExitCode.CLEAN:
        warn_of_hidden(app.out, failing)
    return code
