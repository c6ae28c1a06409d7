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

    from op_registry.verify.facts import Compiled, Found, LoweredSample, Ran
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
    arguments = [_name(op), sample.arguments] if _name(op) in NOT_UNIQUE else None
    decides = [arguments, sample.undefined, sample.tolerance]
    content.update(json.dumps(decides, sort_keys=True).encode())
    return (sample.program or "", content.hexdigest())


def _name(op: str) -> str:
    return op.split(".")[1].removeprefix("_")


def collect(
    workspace: Workspace, ops: Iterable[str], dtypes: Iterable[str]
) -> dict[str, list[Found]]:
    """Return all that is known of ``ops`` at ``dtypes``, by op."""
    wanted = frozenset(ops)
    known: dict[str, list[Found]] = {}
    for dtype in dtypes:
        for found in workspace.found(dtype):
            if found.op in wanted and found.samples:
                known.setdefault(found.op, []).append(_joined(workspace, found))
    return dict(sorted(known.items()))


def _joined(workspace: Workspace, found: Found) -> Found:
    return replace(found, compiled=_compiled(workspace, found), ran=_ran(workspace, found))


def _compiled(workspace: Workspace, found: Found) -> dict[str, dict[str, Compiled]]:
    by_chip: dict[str, dict[str, Compiled]] = {}
    for chip in plan.chips_in_order(CHIPS):
        for program in plan.programs(found, chip):
            kept = workspace.journal.get("compile", (program, chip))
            if kept is not None:
                by_chip.setdefault(chip, {})[program] = compiled(kept)
    return by_chip


def _ran(workspace: Workspace, found: Found) -> dict[int, Ran]:
    results: dict[int, Ran] = {}
    for sample in plan.with_values(found):
        kept = workspace.journal.get("numerics", run_key(workspace, found.op, sample))
        if kept is not None:
            results[sample.index] = ran(kept)
    return results
