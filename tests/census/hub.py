"""The census: every config of a folder in hub layout through the real scan."""

from __future__ import annotations

import json
from collections import Counter
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING

from op_registry.loader import load
from tests.census import evidence, references
from tests.census.markdown import table
from tests.census.sweep import Limits, config_paths, name_of, sweep
from tpu_audit.types.report import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.census.outcome import Outcome

LIMITS = Limits(seconds=300, memory_mib=8192)
"""The defaults of ``tpu-audit scan``."""
REQUIRED = 0.9
"""Share of the configs whose class exists here that must be traced."""
COMMAND = ".ci/census hub FOLDER"


def census(folder: Path, out: Path, tell: Callable[[str], None]) -> bool:
    """Scan all configs under ``folder``, write both reports into ``out``; whether all is well."""
    paths = config_paths(folder)
    here = {name_of(path, folder): class_exists(path) for path in paths}
    outcomes: list[Outcome] = []
    for outcome in sweep(paths, folder, LIMITS):
        tell(f"{len(outcomes) + 1}/{len(paths)} {outcome.name}: {outcome.code or outcome.verdict}")
        outcomes.append(outcome)
    out.mkdir(parents=True, exist_ok=True)
    (out / "hub_configs.md").write_text(_page(outcomes, here), encoding="utf-8")
    (out / "hub_configs.json").write_text(_json(outcomes, here), encoding="utf-8")
    return (
        share(outcomes, here) >= REQUIRED
        and all(outcome.typed for outcome in outcomes)
        and evidence.share(outcomes) <= evidence.ALLOWED
        and not references.unexplained(references.met(outcomes), load(None))
    )


def class_exists(path: Path) -> bool:
    """Whether the class that a config names is one of the installed transformers or diffusers."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        library = "diffusers" if "_class_name" in content else "transformers"
        name = content["_class_name"] if library == "diffusers" else content["architectures"][0]
    except (ValueError, LookupError, TypeError):
        return False
    known = isinstance(name, str) and find_spec(library) is not None
    return known and name in dir(import_module(library))  # lazily: nothing is loaded


def share(outcomes: Sequence[Outcome], here: dict[str, bool]) -> float:
    """Return the share that was traced of the configs whose class is ``here``."""
    known = [outcome for outcome in outcomes if here[outcome.name]]
    return sum(outcome.status is Status.TRACED for outcome in known) / max(len(known), 1)


def _page(outcomes: Sequence[Outcome], here: dict[str, bool]) -> str:
    known = [outcome for outcome in outcomes if here[outcome.name]]
    rows = [
        (o.name, o.architecture, here[o.name], o.status, o.stage, o.code, o.verdict, o.calls, o.ops)
        for o in outcomes
    ]
    why = [(o.name, o.architecture, o.stage, o.code, o.reason) for o in known if o.stage]
    columns = ("config", "architecture", "class here", "status", "stage", "reason")
    return f"""# {len(outcomes)} public configs through `scan`

Input: a folder of {len(outcomes)} public `config.json` files in hub layout, some of them broken on
purpose. Files of other names that hold a config too (`model_config.json`,
`config_bert_large.json`) are not models that `scan` would find by a hub id, and are left out.
Forward pass, bfloat16, batch 1, 128 tokens, by default limits.

Made with {versions()} by `{COMMAND}`.

{_summary(outcomes, known)}
## Calls that rest on registration alone

{evidence.section(outcomes)}
## Ops met, and what defines them

{references.section(outcomes, load(None))}
## Failed and skipped, by stage and reason

{_reasons(outcomes, here)}
## Not traced although transformers has the class

{table(("config", "class", "stage", "reason", "what was said"), why)}
## All configs

`calls` are calls on the TPU, `ops` distinct op overloads among them.

{table((*columns, "verdict", "calls", "ops"), rows)}"""


def versions() -> str:
    """Name the libraries that made a report, with their versions."""
    named = ("torch", "transformers")
    return ", ".join(f"{name} {metadata.version(name)}" for name in named)


def _summary(outcomes: Sequence[Outcome], known: Sequence[Outcome]) -> str:
    statuses = [Status.TRACED, Status.FAILED, Status.SKIPPED]
    rows = [
        (label, len(group), *(sum(o.status is status for o in group) for status in statuses))
        for label, group in (("all", outcomes), ("`architectures` class exists here", known))
    ]
    traced = sum(o.status is Status.TRACED for o in known)
    accidents = sum(not o.typed for o in outcomes)
    return (
        table(("configs", "number", *statuses), rows)
        + f"\nTraced of those whose class exists: {traced} of {len(known)}, "
        + f"{traced / max(len(known), 1):.1%} (at least {REQUIRED:.0%} required).\n"
        + f"Outcomes without a verdict or a typed reason (crash, internal error): {accidents}.\n"
    )


def _reasons(outcomes: Sequence[Outcome], here: dict[str, bool]) -> str:
    undone = [o for o in outcomes if o.status is not Status.TRACED]
    counted = Counter((str(o.status), o.stage or "", o.code or "") for o in undone)
    with_class = Counter(
        (str(o.status), o.stage or "", o.code or "") for o in undone if here[o.name]
    )
    rows = [(*key, number, with_class[key]) for key, number in sorted(counted.items())]
    return table(("status", "stage", "reason", "configs", "class exists here"), rows)


def _json(outcomes: Sequence[Outcome], here: dict[str, bool]) -> str:
    """One line a config, so that a change of one shows as one."""
    lines = [
        json.dumps(
            {
                "config": o.name,
                "architecture": o.architecture,
                "class_exists": here[o.name],
                "status": o.status,
                "stage": o.stage,
                "code": o.code,
                "reason": o.reason,
                "verdict": o.verdict,
                "calls": o.calls,
                "ops": o.ops,
                "random": o.random,
                "registered_only": sum(o.registered.values()),
                "parameters": o.parameters,
            }
        )
        for o in outcomes
    ]
    return "[\n" + ",\n".join(lines) + "\n]\n"
