"""Time and memory of ``scan``."""

from __future__ import annotations

import json
import shutil
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from tests.bench.figure import Figure, Section, spread
from tests.bench.processes import PYTHON, ROOT, TOOL, in_turn, peak_memory, run

if TYPE_CHECKING:
    from pathlib import Path

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


def section(folder: Path, runs: int) -> Section:
    """Measure scans; ``folder`` is for caches and models."""
    figures = [*_cold(folder, runs), *_cached(folder, runs), *_memory(folder)]
    return Section(
        title="Scan",
        method=f'Bare import: `python -c "{IMPORT}"`.',
        figures=tuple(figures),
    )


def _cold(folder: Path, runs: int) -> list[Figure]:
    """Time a scan that knows nothing against the imports that it cannot do without."""

    def scan() -> Ran:
        shutil.rmtree(folder / "cold", ignore_errors=True)
        return run((*TOOL, "scan", "--offline", "bert-base-uncased"), folder / "cold")

    bare = partial(run, (*PYTHON, "-c", IMPORT), folder / "bare")
    ours, theirs = ([ran.seconds for ran in each] for each in in_turn((scan, bare), runs))
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
            unit="times",
            detail=f"pairs from {spread(by_pair)}",
        ),
    ]


def _cached(folder: Path, runs: int) -> list[Figure]:
    """Time a scan of a local folder whose trace is known, and ``--help``."""
    scan = (*TOOL, "scan", str(BERT))
    commands = [partial(run, command, folder / "warm") for command in (scan, (*TOOL, "--help"))]
    scans, helps = ([ran.seconds for ran in each] for each in in_turn(commands, runs))
    imported = _imports((*PYTHON, "-X", "importtime", *TOOL[1:], *scan[3:]), folder / "warm")
    return [
        Figure(
            what="cached scan of a local folder",
            value=median(scans),
            limit=0.6,
            unit="s",
            detail=spread(scans),
        ),
        Figure(
            what="torch and transformers imported by it",
            value=len(imported),
            limit=0,
            unit="packages",
            detail=", ".join(imported),
        ),
        Figure(what="`--help`", value=median(helps), unit="s", detail=spread(helps)),
    ]


def _imports(command: tuple[str, ...], cache: Path) -> list[str]:
    """Return which heavy packages a command imports, by the interpreter's own log."""
    lines = run(command, cache).err.splitlines()
    names = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
    if "tpu_audit" not in names:
        raise RuntimeError("the interpreter logged no imports")
    return [name for name in HEAVY if name in names]


def _memory(folder: Path) -> list[Figure]:
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
