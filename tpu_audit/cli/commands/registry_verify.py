"""``tpu-audit registry verify``: prove what a registry claims, without a TPU."""

from __future__ import annotations

import hashlib
import os
import shlex
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from op_registry.codec import encode
from op_registry.evidence import DTYPES
from op_registry.loader import load
from op_registry.toolchain.chips import CHIPS
from op_registry.verify.plan import STAGES, Selection
from op_registry.verify.report import REPORTS
from op_registry.verify.run import Verification
from op_registry.verify.tools import find_tools
from tpu_audit.cli.app import App, current_app
from tpu_audit.cli.choices import ChoiceList
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.options import format_option
from tpu_audit.cli.outputs import check_writable, write_atomically
from tpu_audit.cli.verify_progress import VerifyProgress
from tpu_audit.cli.verify_view import counts, table
from tpu_audit.types.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.schema import Snapshot
    from op_registry.verify.discrepancies import Inquiry
    from op_registry.verify.run import Verified

_SHORT = {
    "f32": "float32",
    "bf16": "bfloat16",
    "f16": "float16",
    "f64": "float64",
    "i32": "int32",
    "i64": "int64",
    "c64": "complex64",
}


@click.command("verify", cls=Command)
@click.option(
    "--python",
    default=None,
    metavar="PATH",
    help="Interpreter of an environment with torch-tpu, libtpu and jax. Default: this one.",
)
@click.option(
    "--registry",
    default=None,
    metavar="VERSION|PATH",
    help="Registry to verify. Default: the packaged one of the versions that --python has.",
)
@click.option(
    "--ops",
    multiple=True,
    metavar="PATTERN",
    help="Only these: aten.add.Tensor, aten.add, aten.*_backward.*. Repeatable.",
)
@click.option(
    "--dtype",
    "dtypes",
    type=ChoiceList("dtype", DTYPES, _SHORT),
    default=DTYPES,
    metavar="DTYPE,...",
    help=f"Only these of {', '.join(DTYPES)}.",
)
@click.option(
    "--chip",
    "chips",
    type=ChoiceList("TPU generation", tuple(CHIPS)),
    default=tuple(CHIPS),
    metavar="CHIP,...",
    help=f"Compile for these only of {', '.join(CHIPS)}.",
)
@click.option(
    "--stages",
    type=ChoiceList("stage", STAGES),
    default=STAGES,
    metavar="STAGE,...",
    help=f"Do these only of {', '.join(STAGES)}.",
)
@click.option(
    "--sample",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    metavar="FRACTION",
    help="Only this share of the ops, the same in every run.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N ops.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    default=None,
    metavar="N",
    help="Work in N threads with processes of their own. Default: one a core.",
)
@click.option(
    "--work-dir",
    metavar="DIR",
    help="Folder of the work done so far; a run goes on where it stopped. Default: in the cache.",
)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="Snapshot to write. Default: torch-tpu-VERSION-torch-MINOR.json in this folder.",
)
@click.option(
    "--report",
    metavar="PATH",
    help="Also write what disagrees with eager PyTorch, looked at twice: .md or .json.",
)
@format_option("console", "json")
@click.pass_context
def command(ctx: click.Context, /, **settings: Any) -> None:
    """Prove what a registry claims: lower, compile and run samples of every op, without a TPU.

    Samples are lowered by torch-tpu's kernels, compiled by libtpu for each TPU generation, run by
    XLA:CPU and compared with eager PyTorch. What it shows is written into a copy of the registry.
    All of it takes hours; stopped or killed, it goes on where it was.
    """
    app = current_app()
    _check_paths(settings)
    tools = find_tools(settings["python"])
    for doubt in tools.doubts:
        app.out.warning(doubt)
    work = Path(settings["work_dir"] or app.cache_dir / "verify").expanduser()
    names = ("ops", "dtypes", "chips", "stages", "sample", "limit")
    selection = Selection(**{name: settings[name] for name in names})
    snapshot = load(settings["registry"] or tools.registry)
    started = time.monotonic()
    jobs = settings["jobs"] or os.cpu_count() or 1
    with (
        Verification(snapshot, tools, work, selection) as verification,
        _resumable(app, ctx, work),
        VerifyProgress(app.out) as progress,
    ):
        for note in verification.workspace.notes:
            app.out.note(note)
        verified = verification.run(jobs, progress.pipeline)
        path = _write_snapshot(verified, settings["output"])
        if settings["report"]:
            inquiry = verification.inquire(verified, jobs, progress.second_look)
            _write_report(Path(settings["report"]), inquiry, verified)
    _tell(app, verified, path, settings["fmt"], time.monotonic() - started)


def _check_paths(settings: dict[str, Any]) -> None:
    for name in ("output", "report"):
        if settings[name]:
            check_writable(Path(settings[name]))
    report = settings["report"]
    if report and Path(report).suffix not in REPORTS:
        hint = f"end its name with {' or '.join(REPORTS)}"
        raise UsageError(f"the format of the report {report!r} is not known", hint=hint)


@contextmanager
def _resumable(app: App, ctx: click.Context, work: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        app.out.note("stopped; what was found so far is kept")
        app.out.hint(f"go on with: {_again(ctx, work)}")
        raise


def _again(ctx: click.Context, work: Path) -> str:
    """Return the command that goes on with the work."""
    words = ctx.command_path.split()
    for param in ctx.command.params:
        name = param.name or ""
        typed = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not typed or name == "work_dir":
            continue
        value = ctx.params[name]
        values = value if param.multiple else [value]
        for one in values:
            words += [param.opts[-1], ",".join(one) if isinstance(one, tuple) else str(one)]
    return shlex.join([*words, "--work-dir", str(work)])


def _write_snapshot(verified: Verified, output: str | None) -> Path:
    path = Path(output or _file_name(verified.snapshot))
    write_atomically(path, encode(verified.snapshot).decode())
    return path


def _write_report(path: Path, inquiry: Inquiry, verified: Verified) -> None:
    write_atomically(path, REPORTS[path.suffix](inquiry, verified.snapshot.versions))


def _tell(app: App, verified: Verified, path: Path, fmt: str, seconds: float) -> None:
    if fmt == "json":
        app.out.json(
            {
                "path": str(path),
                "digest": hashlib.sha256(path.read_bytes()).hexdigest(),
                "versions": verified.snapshot.versions,
                "ops": len(verified.found),
                "done": verified.done,
                "reused": verified.reused,
                "seconds": round(seconds, 1),
                "dtypes": counts(verified),
            }
        )
        return
    app.out.data(f"{path}\n\n")
    app.out.table(*table(verified))
    app.out.note(f"{len(verified.found):,} ops with samples, {seconds:,.0f} s")


def _file_name(snapshot: Snapshot) -> str:
    minor = snapshot.torch.rpartition(".")[0]
    return f"{snapshot.package}-{snapshot.version}-torch-{minor}.json"
