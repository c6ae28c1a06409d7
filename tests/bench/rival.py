"""``check`` against TorchFix, which reads code for PyTorch too, on the same files."""

from __future__ import annotations

import shutil
from functools import partial
from typing import TYPE_CHECKING

from tests.bench.checking import transformers
from tests.bench.figure import Figure, Section
from tests.bench.processes import TOOL, run

if TYPE_CHECKING:
    from pathlib import Path

STEP = 10
"""Every tenth file: TorchFix takes a quarter of an hour for all."""
TIMES_FASTER = 30.0
_TITLE = "Check against TorchFix"
_ABSENT = "Not measured: no interpreter with TorchFix was given (`.ci/bench --torchfix PYTHON`)."
_METHOD = """\
Every tenth file of transformers by its path, {count} files with {lines:,} lines. One process each,
nothing cached, all rules that are on by default; ours runs before and after TorchFix {version}, and
the slower of the two counts. TorchFix passes over files without the word `torch`."""


def section(folder: Path, python: str | None) -> Section:
    """Measure both in one run; ``python`` is an interpreter with TorchFix, None to leave it out."""
    if python is None:
        return Section(title=_TITLE, method=_ABSENT, figures=())
    tree = folder / "tenth"
    files = _copy(transformers(), tree)
    version = run((python, "-m", "torchfix", "--version"), folder / "rival").out.strip()
    theirs = (python, "-m", "torchfix", "--jobs", "1", str(tree))
    ours = partial(run, (*TOOL, "check", "--no-cache", "--jobs", "1", str(tree)), folder / "rival")
    before, rival, after = ours(), run(theirs, folder / "rival"), ours()
    slower = max(before.cpu_s, after.cpu_s)
    figure = Figure(
        what="CPU time of TorchFix against ours",
        value=rival.cpu_s / slower,
        least=TIMES_FASTER,
        unit="times",
        detail=f"{rival.cpu_s:.1f} s and {slower:.2f} s",
    )
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    method = _METHOD.format(count=len(files), lines=lines, version=version)
    return Section(title=_TITLE, method=method, figures=(figure,))


def _copy(source: Path, target: Path) -> list[Path]:
    """Copy every tenth file, each to its place."""
    copies = []
    for path in sorted(source.rglob("*.py"))[::STEP]:
        copy = target / source.name / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        copies.append(copy)
    return copies
