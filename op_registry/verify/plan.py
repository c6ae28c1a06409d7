"""Decides what a verification does, and in which order."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from op_registry.errors import RegistryError
from op_registry.evidence import DTYPES
from op_registry.schema import Support
from op_registry.verify.verdict import as_built

if TYPE_CHECKING:
    from collections.abc import Iterable

    from op_registry.schema import Snapshot
    from op_registry.verify.facts import Found, LoweredSample

STAGES = ("lower", "compile", "numerics", "gradient")
FIRST_CHIP = "v6e"
MOST_PROGRAMS = 2
"""Compiled of one op at one dtype for ``FIRST_CHIP``; for the other chips the first of them."""
_FIRST_DTYPES = ("float32", "bfloat16")
_EXPENSIVE = re.compile(r"convolution|reduce_window|select_and_scatter|custom_call|[fsu]64|complex")
_VERIFIED = frozenset({Support.NATIVE, Support.UNKNOWN, Support.REJECTED})
"""What is missing raises before anything can be lowered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """What to verify."""

    ops: Sequence[str] = ()
    """Shell patterns of op overloads; none: all."""
    dtypes: Sequence[str] = DTYPES
    chips: Sequence[str] = ()
    stages: Sequence[str] = STAGES
    sample: float = 1.0
    """Share of ops, chosen by a hash of their names: the same ones in every run."""
    limit: int | None = None
    """At most so many ops, by the same hash."""


def ops_of(snapshot: Snapshot, selection: Selection) -> list[str]:
    """Return the ops to verify, sorted: those that a kernel may serve.

    Raises RegistryError for a pattern that names none.
    """
    names = sorted(
        op for op, record in snapshot.ops.items() if as_built(record).support in _VERIFIED
    )
    for pattern in selection.ops:
        if not any(_matches(op, pattern) for op in names):
            message = f"no op of the registry that a kernel may serve matches {pattern!r}"
            raise RegistryError(message, hint="`tpu-audit registry list` names the ops")
    if selection.ops:
        names = [op for op in names if any(_matches(op, p) for p in selection.ops)]
    chosen = sorted(names, key=_place)[: selection.limit]
    return sorted(op for op in chosen if _place(op) < selection.sample)


def _matches(op: str, pattern: str) -> bool:
    pattern = pattern.replace("::", ".", 1)
    return fnmatchcase(op, pattern) or op.rpartition(".")[0] == pattern


def _place(op: str) -> float:
    """Return a number in [0, 1) that an op keeps in every run."""
    return int(hashlib.sha256(op.encode()).hexdigest()[:12], 16) / 16**12


def wave(dtype: str) -> int:
    """Return how late a dtype comes: those that models are made of come first, together."""
    if dtype in _FIRST_DTYPES:
        return 0
    return 1 + (DTYPES.index(dtype) if dtype in DTYPES else len(DTYPES))


def programs(found: Found, chip: str) -> list[str]:
    """Return the programs of ``found`` to compile for ``chip``, those of its first samples."""
    distinct = list(dict.fromkeys(s.program for s in found.samples if s.program))
    return distinct[: MOST_PROGRAMS if chip == FIRST_CHIP else 1]


def with_values(found: Found) -> list[LoweredSample]:
    """Return the samples whose numbers can be compared."""
    return [sample for sample in found.samples if sample.program and sample.values]


def with_gradients(found: Found) -> list[LoweredSample]:
    """Return those of samples of forward and backward.

    What an op writes behind its schema's back is not followed through both.
    """
    return [sample for sample in with_values(found) if "hidden_write" not in sample.flags]


def cost(text: str) -> int:
    """Return a number that grows with the time that compiling ``text`` takes: cheap ones first."""
    return len(text) * (20 if _EXPENSIVE.search(text) else 1)


def chips_in_order(chips: Iterable[str]) -> list[str]:
    """Return ``chips`` with the one that most evidence is for in front."""
    return sorted(chips, key=lambda chip: (chip != FIRST_CHIP, chip))
