"""What the stages of a verification found, as plain data between journal and evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from op_registry.evidence import Cause


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """Why a step did not pass."""

    cause: Cause
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Values:
    """The file of one sample's numbers: inputs, eager PyTorch's outputs, more precise ones."""

    path: str
    """Relative to the folder of the samples."""
    inputs: int
    outputs: int
    references: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LoweredSample:
    """One sample call, and what lowering it gave."""

    index: int
    arguments: Mapping[str, Any]
    """Arguments that are no tensors, by name, defaults included."""
    tensors: Mapping[str, Any]
    """Argument -> ``["float32", [2, 3]]``, a list of those for a list of tensors."""
    problem: Problem | None
    """None when it lowered."""
    program: str | None
    """Digest of the StableHLO; None when there is none, or no tensor comes out of the call."""
    values: Values | None = None
    """None beyond the first few samples, and where the CPU refuses the call."""
    flags: frozenset[str] = frozenset()
    undefined: tuple[int, ...] = ()
    """Results that hold uninitialised memory."""
    tolerance: tuple[float, float] | None = None
    """Relative and absolute, where torch's own tests grant more than usual."""

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Read a sample's record as ``op_registry.verify.lower_child`` describes it."""
        how, values, granted = raw["lowered"], raw["values"], raw["tolerance"]
        return cls(
            index=raw["index"],
            arguments=raw["arguments"],
            tensors=raw["tensors"],
            problem=None if how is True else Problem(cause=Cause(how[0]), message=how[1]),
            program=raw["program"],
            values=Values(**values) if values else None,
            flags=frozenset(raw["flags"]),
            undefined=tuple(raw["undefined"]),
            tolerance=(granted[1], granted[0]) if granted else None,
        )

    @property
    def elements(self) -> int:
        """Return how many elements the tensors have in all: how small a reproducer is."""
        return _elements(list(self.tensors.values()))


def _elements(tree: Any) -> int:
    """Count over ``[dtype, shape]`` leaves in nested lists."""
    if not isinstance(tree, list):
        return 0
    if len(tree) == 2 and isinstance(tree[0], str) and isinstance(tree[1], list):  # noqa: PLR2004
        return math.prod(tree[1])
    return sum(map(_elements, tree))


@dataclass(frozen=True, kw_only=True, slots=True)
class Compiled:
    """What libtpu made of a program for one chip."""

    problem: Problem | None = None
    """None when it compiled."""
    emulates: tuple[str, ...] = ()
    """What the compiled program emulates, in words."""
    notes: tuple[str, ...] = ()
    """What was rewritten so that the tools understand each other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """What XLA:CPU made of a program on one sample's inputs, compared with eager PyTorch."""

    problem: Problem | None = None
    """None when the results agree."""
    kind: str = ""
    """In what they differ (``op_registry.verify.compare.Kind``); empty when it did not run."""
    notes: tuple[str, ...] = ()
    """What was rewritten so that the tools understand each other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """All that is known of one op at one dtype."""

    op: str
    dtype: str
    samples: tuple[LoweredSample, ...]
    compiled: Mapping[str, Mapping[str, Compiled]] = field(default_factory=dict)
    """Chip -> program -> result, for programs of these samples."""
    ran: Mapping[int, Ran] = field(default_factory=dict)
    """Sample -> result."""
    gradient: Mapping[int, Problem | None] = field(default_factory=dict)
    """Sample -> what is wrong with forward and backward in one: it does not lower, or differs."""
