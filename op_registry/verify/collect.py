"""Joins what lowering found with what the journal knows of the programs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from op_registry.toolchain.chips import CHIPS
from op_registry.verify import plan
from op_registry.verify.hand import compiled, ran

if TYPE_CHECKING:
    from collections.abc import Iterable

    from op_registry.verify.facts import Compiled, Found, LoweredSample, Problem, Ran
    from op_registry.verify.journal import Key
    from op_registry.verify.workspace import Workspace


NOT_UNIQUE = frozenset(
    {"linalg_qr", "qr", "linalg_svd", "svd", "linalg_eigh", "topk", "sort", "argsort"}
)
"""Names of ops whose results are compared by what is unique of them (``verify.invariants``)."""


def run_key(workspace: Workspace, op: str, sample: LoweredSample) -> Key:
    """Return the key of a run: the program, and a hash of its inputs and what is wanted of it."""
    values = sample.values
    content = hashlib.sha256(workspace.values(values).read_bytes() if values else b"")
    arguments = [name(op), sample.arguments] if name(op) in NOT_UNIQUE else None
    decides = [arguments, sample.undefined, sample.tolerance]
    content.update(json.dumps(decides, sort_keys=True).encode())
    return (sample.program or "", content.hexdigest())


def name(op: str) -> str:
    """Return an op's name as ``NOT_UNIQUE`` has it: without namespace, underscore and overload."""
    return op.split(".")[1].removeprefix("_")


def collect(
    workspace: Workspace, ops: Iterable[str], dtypes: Iterable[str]
) -> dict[str, list[Found]]:
    """Return all that is known of ``ops`` at ``dtypes``, by op."""
    wanted = frozenset(ops)
    known: dict[str, list[Found]] = {}
    for dtype in dtypes:
        gradients = {one.op: one for one in workspace.found(dtype, "gradients")}
        for found in workspace.found(dtype):
            if found.op in wanted and found.samples:
                joined = _joined(workspace, found, gradients.get(found.op))
                known.setdefault(found.op, []).append(joined)
    return dict(sorted(known.items()))


def _joined(workspace: Workspace, found: Found, gradients: Found | None) -> Found:
    return replace(
        found,
        compiled=_compiled(workspace, found),
        ran=_ran(workspace, found.op, plan.with_values(found)),
        gradient=_gradient(workspace, gradients) if gradients else {},
    )


def _gradient(workspace: Workspace, gradients: Found) -> dict[int, Problem | None]:
    """Return what is wrong with each sample's gradient; what could not be run only has to lower."""
    results = _ran(workspace, gradients.op, plan.with_gradients(gradients))
    differ = {index: ran.problem for index, ran in results.items() if ran.kind}
    return {s.index: s.problem or differ.get(s.index) for s in gradients.samples}


def _compiled(workspace: Workspace, found: Found) -> dict[str, dict[str, Compiled]]:
    by_chip: dict[str, dict[str, Compiled]] = {}
    for chip in plan.chips_in_order(CHIPS):
        for program in plan.programs(found, chip):
            kept = workspace.journal.get("compile", (program, chip))
            if kept is not None:
                by_chip.setdefault(chip, {})[program] = compiled(kept)
    return by_chip


def _ran(workspace: Workspace, op: str, samples: Iterable[LoweredSample]) -> dict[int, Ran]:
    results: dict[int, Ran] = {}
    for sample in samples:
        kept = workspace.journal.get("numerics", run_key(workspace, op, sample))
        if kept is not None:
            results[sample.index] = ran(kept)
    return results
