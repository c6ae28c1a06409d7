"""A scan that compiles: the judgement stands beside the phase's own, and is kept."""

from __future__ import annotations

import json
from pathlib import Path

from tpu_audit.api.options import ScanOptions
from tpu_audit.api.scanner import scan
from tpu_audit.types.report import Status, Verdict

FILE = Path(__file__).parents[1] / "data" / "own" / "compiled.py"
BERT = {
    "architectures": ["BertForMaskedLM"],
    "model_type": "bert",
    "hidden_size": 32,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
    "vocab_size": 100,
    "max_position_embeddings": 64,
}


def test_a_break_is_a_finding_beside_the_host_sync(tmp_path: Path) -> None:
    """Eager reads a value, compiled breaks the graph: two judgements, each with its own code."""
    report = scan([f"{FILE}:item"], options=ScanOptions(cache_dir=tmp_path, compiled=True))

    (phase,) = report.models[0].phases
    assert phase.compiled is not None
    assert (phase.compiled.status, phase.compiled.graphs) == (Status.TRACED, 2)
    assert phase.compiled.verdict is Verdict.READY_WITH_WARNINGS
    lines = {f.code: f.location.line for f in report.findings}
    assert lines["TPA910"] == lines["TPA930"]


def test_a_model_is_compiled_once(tmp_path: Path) -> None:
    """The second scan takes both judgements from the cache; without the option there is one."""
    config = tmp_path / "config.json"
    config.write_text(json.dumps(BERT), encoding="utf-8")
    options = ScanOptions(cache_dir=tmp_path / "cache", seq_len=8, compiled=True)

    def compiled(options: ScanOptions) -> tuple[int, bool] | None:
        found = scan([str(config)], options=options).models[0].phases[0].compiled
        return (found.graphs, found.cached) if found else None

    assert [compiled(options), compiled(options)] == [(1, False), (1, True)]
    plain = ScanOptions(cache_dir=tmp_path / "cache", seq_len=8)
    assert compiled(plain) is None
