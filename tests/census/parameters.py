"""Our parameter counts beside published ones: each difference with its reason."""

from __future__ import annotations

import copy
import csv
import json
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from tests.census.differences import Case, explain
from tests.census.hub import LIMITS
from tests.census.markdown import table
from tests.census.sweep import sweep
from tests.census.variants import VARIANTS
from tests.census.weights import Weights, weights_of
from tpu_audit.types.report import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tests.census.outcome import Outcome

REQUIRED = 30
"""Models to compare at least."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """One model in both."""

    name: str
    architecture: str
    ours: int
    plain: int
    """By a plain build on the meta device."""
    theirs: int
    reason: str
    rest: int | None
    """Parameters that the reason leaves unexplained; None where there is none."""


def compare(folder: Path, published: Path, out: Path, tell: Callable[[str], None]) -> bool:
    """Write ``parameter_counts.md`` into ``out``; whether every difference has its reason."""
    counts = published_counts(published)
    paths = [folder / name / "config.json" for name in sorted(counts)]
    paths = [path for path in paths if path.is_file()]
    compared, undone = [], []
    for path, outcome in zip(paths, sweep(paths, folder, LIMITS), strict=True):
        if outcome.status is Status.TRACED:
            compared.append(_compared(outcome, path, counts[outcome.name]))
            tell(f"{outcome.name}: {compared[-1].reason}, {compared[-1].rest} left")
        else:
            undone.append(outcome)
    (out / "parameter_counts.md").write_text(_page(compared, undone), encoding="utf-8")
    right = all(one.rest is not None and one.ours == one.plain for one in compared)
    return right and len(compared) >= REQUIRED


def published_counts(path: Path) -> dict[str, int]:
    """Read model -> parameters from a CSV file with columns ``name`` and ``parameters_raw``."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row["name"]: int(row["parameters_raw"]) for row in csv.DictReader(file)}


def _compared(outcome: Outcome, path: Path, theirs: int) -> Compared:
    ours, architecture = outcome.parameters or 0, outcome.architecture or ""
    content = json.loads(path.read_text(encoding="utf-8"))
    weights = weights_of(content, architecture)
    if (path.parent / "hf_quant_config.json").is_file():
        content.setdefault("quantization_config", {"quant_method": "modelopt"})
    reason, rest = _reason(outcome.name, content, architecture, weights, theirs)
    return Compared(
        name=outcome.name,
        architecture=architecture,
        ours=ours,
        plain=weights.count,
        theirs=theirs,
        reason=reason,
        rest=rest,
    )


def _reason(
    name: str, content: dict[str, Any], architecture: str, weights: Weights, theirs: int
) -> tuple[str, int | None]:
    """Return why the counts differ, and what that leaves."""
    ours = weights.count
    if ours == theirs:
        return "equal", 0
    variant = VARIANTS.get(name)
    if variant:
        content = changed(content, variant.changes)
        weights = weights_of(content, architecture)
    text = variant.why if variant else ""
    if variant and weights.count == theirs:
        return f"{text} ({weights.count - ours:+,})", 0
    quantised = "quantization_config" in content
    config = {**content, **content.get("text_config", {})}
    case = Case(
        ours=weights.count, theirs=theirs, config=config, weights=weights, quantised=quantised
    )
    found = explain(case)
    if found is None:
        return text or "no reason found", None if not text else theirs - weights.count
    return "; ".join(filter(None, (text, str(found)))), found.rest


def changed(content: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config with other values; a mapping changes the fields of a part, None drops one."""
    result = copy.deepcopy(content)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = changed(result.get(key, {}), value) if isinstance(value, dict) else value
    return result


def _page(compared: Sequence[Compared], undone: Sequence[Outcome]) -> str:
    equal = sum(one.ours == one.theirs for one in compared)
    exact = sum(one.rest == 0 for one in compared) - equal
    plain = sum(one.ours == one.plain for one in compared)
    rows = [
        (o.name, o.architecture, o.ours, o.theirs, o.theirs - o.ours, o.reason, o.rest)
        for o in compared
    ]
    left = [(o.name, o.architecture, o.status, o.stage, o.code) for o in undone]
    versions = f"torch {metadata.version('torch')}, transformers {metadata.version('transformers')}"
    return f"""# Parameter counts beside published ones

`parameters` of `scan` counts the parameters of the class that is traced, tied ones once. Beside it
stand the counts of a public list of models (llmfit, `hf_models.json`, May 2026), which holds what
the hub says of a repository's checkpoint, and here and there an estimate. Every reason is
arithmetic on the model's own tensors (`tests/census/differences.py`), or a changed field that is
put back (`tests/census/variants.py`); `left` is what it leaves of the difference.

Made with {versions} by `.ci/census parameters FOLDER CSV`.

- Models in both that were traced: {len(compared)}.
- A plain build of the same class on torch's meta device counts the same as `scan`: {plain}.
- Equal to the published count: {equal}.
- Different, and the reason adds up to the last parameter: {exact}.
- Different, and the reason leaves something: {len(compared) - equal - exact}.

{table(("model", "class", "scan", "published", "difference", "reason", "left"), rows)}
## In both, but not traced

{table(("model", "class", "status", "stage", "reason"), left)}"""
