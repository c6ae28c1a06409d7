"""``python -m tests.bench``: time and memory of whole commands, on Linux. ``.ci/bench`` runs it."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from tests.bench.processes import PYTHON, ROOT, TOOL, interleaved, peak_memory, run
from tests.census.markdown import table

if TYPE_CHECKING:
    from tests.bench.processes import Ran

LLAMA_405B = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 16384,
    "intermediate_size": 53248,
    "num_attention_heads": 128,
    "num_hidden_layers": 126,
    "num_key_value_heads": 8,
    "max_position_embeddings": 131072,
    "rms_norm_eps": 1e-05,
    "rope_theta": 500000.0,
    "tie_word_embeddings": False,
    "vocab_size": 128256,
}
BERT = ROOT / "tests/data/configs/google-bert/bert-base-uncased"
IMPORT = "import torch, transformers.models.bert.modeling_bert"
GIGABYTE_MIB = 953
HEAVY = ("torch", "transformers")


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One measured number and its limit."""

    what: str
    value: float
    limit: float | None
    unit: str
    detail: str = ""

    @property
    def missed(self) -> bool:
        """Whether it is over its limit."""
        return self.limit is not None and self.value > self.limit


def main() -> int:
    """Measure everything; 1 when a limit is missed."""
    parser = argparse.ArgumentParser(prog=".ci/bench")
    parser.add_argument("--runs", type=int, default=9, help="counted runs of each command")
    parser.add_argument("--write", action="store_true", help="also write reports/figures.md")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = [
            *cold(Path(folder), args.runs),
            *cached(Path(folder), args.runs),
            *memory(Path(folder)),
        ]
    page = _page(figures, args.runs)
    sys.stdout.write(page)
    if args.write:
        (ROOT / "reports" / "figures.md").write_text(page, encoding="utf-8")
    return int(any(figure.missed for figure in figures))


def cold(folder: Path, runs: int) -> list[Figure]:
    """Time a scan that knows nothing against the imports that it cannot do without."""

    def scan() -> Ran:
        shutil.rmtree(folder / "cold", ignore_errors=True)
        return run((*TOOL, "scan", "--offline", "bert-base-uncased"), folder / "cold")

    bare = partial(run, (*PYTHON, "-c", IMPORT), folder / "bare")
    ours, theirs = interleaved(scan, bare, runs)
    detail = f"medians {median(ours):.2f} s and {median(theirs):.2f} s"
    by_pair = [a / b for a, b in zip(ours, theirs, strict=True)]
    return [
        Figure(
            what="`scan bert-base-uncased`, nothing cached, against the bare import: medians",
            value=median(ours) / median(theirs),
            limit=1.5,
            unit="times",
            detail=detail,
        ),
        Figure(
            what="the same: fastest against fastest",
            value=min(ours) / min(theirs),
            limit=None,
            unit="times",
            detail=f"pairs from {min(by_pair):.2f} to {max(by_pair):.2f}",
        ),
    ]


def cached(folder: Path, runs: int) -> list[Figure]:
    """Time a scan of a local folder whose trace is known, and ``--help``."""
    scan = (*TOOL, "scan", str(BERT))
    scans, helps = interleaved(
        partial(run, scan, folder / "warm"), partial(run, (*TOOL, "--help"), folder / "warm"), runs
    )
    imported = _imports((*PYTHON, "-X", "importtime", *TOOL[1:], *scan[3:]), folder / "warm")
    return [
        Figure(
            what="cached scan of a local folder",
            value=median(scans),
            limit=0.6,
            unit="s",
            detail=_spread(scans),
        ),
        Figure(
            what="torch and transformers imported by it",
            value=len(imported),
            limit=0,
            unit="packages",
            detail=", ".join(imported),
        ),
        Figure(what="`--help`", value=median(helps), limit=None, unit="s", detail=_spread(helps)),
    ]


def _imports(command: tuple[str, ...], cache: Path) -> list[str]:
    """Return which heavy packages a command imports, by the interpreter's own log."""
    lines = run(command, cache).err.splitlines()
    names = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
    if "tpu_audit" not in names:
        raise RuntimeError("the interpreter logged no imports")
    return [name for name in HEAVY if name in names]


def memory(folder: Path) -> list[Figure]:
    """Measure a scan of a model of 405 billion parameters."""
    path = folder / "llama-405b" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(LLAMA_405B), encoding="utf-8")
    scan = (*TOOL, "scan", str(path.parent))
    largest, together = peak_memory(scan, folder / "memory")
    what = "scan of a Llama 405B config, nothing cached"
    return [
        Figure(
            what=f"{what}: largest process, resident", value=largest, limit=GIGABYTE_MIB, unit="MiB"
        ),
        Figure(
            what=f"{what}: parent and child together",
            value=together,
            limit=GIGABYTE_MIB,
            unit="MiB",
            detail="shared pages once",
        ),
    ]


def _spread(seconds: list[float]) -> str:
    return f"{min(seconds):.2f} to {max(seconds):.2f}"


def _page(figures: list[Figure], runs: int) -> str:
    rows = [
        (
            figure.what,
            f"{figure.value:.3g} {figure.unit}"
            if figure.value < 100
            else f"{figure.value:.0f} {figure.unit}",
            "" if figure.limit is None else f"{figure.limit:g} {figure.unit}",
            figure.detail,
        )
        for figure in figures
    ]
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in HEAVY)
    return f"""# Time and memory

Whole processes, from start to exit; {runs} runs of each command after one that does not count,
commands that are compared in turn. Bare import: `python -c "{IMPORT}"`.

Measured on {os.cpu_count()} cores and {gib:.0f} GiB, {platform.system()}, Python
{platform.python_version()}, {versions}, by `.ci/bench`.

{table(("what", "median", "limit", "spread"), rows)}"""


if __name__ == "__main__":
    sys.exit(main())
