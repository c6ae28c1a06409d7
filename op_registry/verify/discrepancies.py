"""Kernels that disagree with eager PyTorch: each seen twice, with the smallest call that shows it.

What a verification found is not taken at its word: the smallest sample that failed is lowered
afresh and run again, and so are variants of it. What does not fail again is dropped and counted.
Samples are also taken to the edge (``op_registry.verify.edges``), where test inputs do not go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from op_registry.evidence import Cause, place
from op_registry.toolchain.programs import has_mosaic
from op_registry.verify import plan
from op_registry.verify.facts import LoweredSample

if TYPE_CHECKING:
    from collections.abc import Iterable

    from op_registry.verify.facts import Found, Ran
    from op_registry.verify.workspace import Workspace

INDICES = "indices"
"""Kind of what ignores an index out of range, beside those of ``op_registry.verify.compare``."""
EDGES = ("nan", "infinity", "halves", "extremes", INDICES)
_EDGE_DTYPES = frozenset({"float32", "bfloat16", "int64", "int32"})
_NOT_EAGER = "reference_kernel"
"""Flag of samples whose wanted results are no kernel's of PyTorch: a disagreement may be ours."""
_NO_EDGE = frozenset({"random", "host_integers", "shape_only", _NOT_EAGER})
"""Flags of samples that are not taken to the edge."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspect:
    """A sample that failed, the smallest of its op, dtype and kind."""

    op: str
    dtype: str
    kind: str
    sample: LoweredSample
    message: str
    samples: int = 1
    """How many samples failed so."""
    edge: str = ""
    """The edge it was taken to, if it was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Discrepancy:
    """A disagreement that was seen twice."""

    op: str
    dtype: str
    kind: str
    """``op_registry.verify.compare.Kind``, or ``indices``."""
    message: str
    """What differs in the call that ``code`` makes: what was got and what eager PyTorch gives."""
    raises: str
    """What eager PyTorch raises in that call; empty: it returns."""
    arguments: Mapping[str, Any]
    """Of the call, without the tensors."""
    tensors: Mapping[str, Any]
    """Dtype and shape of each tensor of the sample."""
    variant: str
    """Which call ``code`` makes: the ``same``, with ``constant`` tensors, or of ``one element``."""
    edge: str
    code: str
    """A Python function ``call(device)``."""
    shuffled: bool
    """Whether the call with the elements of its tensors in another order differs too."""
    samples: int
    """How many samples failed so."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Abort:
    """A kernel that ends the process on some calls, seen at least twice."""

    op: str
    dtypes: tuple[str, ...]
    message: str
    """The last words of the process, of the smallest of these calls."""
    arguments: Mapping[str, Any]
    tensors: Mapping[str, Any]
    samples: int
    """How many samples ended so, over the dtypes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Inquiry:
    """What came of looking twice."""

    confirmed: tuple[Discrepancy, ...] = ()
    dropped: tuple[tuple[Suspect, str], ...] = ()
    """What did not fail again, and why it is not listed."""
    edges: int = 0
    """Calls at the edge that were run."""
    aborts: tuple[Abort, ...] = ()


def suspects(found: Iterable[Found]) -> list[Suspect]:
    """Return the smallest failing sample of each op, dtype and kind."""
    smallest: dict[tuple[str, str, str], Suspect] = {}
    for one in found:
        for index, ran in sorted(one.ran.items()):
            if not ran.kind or ran.problem is None:
                continue
            fresh = _suspect(one, index, ran)
            if _NOT_EAGER in fresh.sample.flags:
                continue
            key = (fresh.op, fresh.dtype, fresh.kind)
            known = smallest.get(key, fresh)
            best = min(known, fresh, key=lambda suspect: suspect.sample.elements)
            count = 1 if known is fresh else known.samples + 1
            smallest[key] = replace(best, samples=count)
    return [smallest[key] for key in sorted(smallest)]


def _suspect(found: Found, index: int, ran: Ran) -> Suspect:
    return Suspect(
        op=found.op,
        dtype=found.dtype,
        kind=ran.kind,
        sample=next(sample for sample in found.samples if sample.index == index),
        message=ran.problem.message if ran.problem else "",
    )


def aborts(found: Iterable[Found]) -> tuple[Abort, ...]:
    """Return the ops on which lowering ended the process in two samples or more, sorted."""
    ended: dict[str, list[tuple[str, LoweredSample]]] = {}
    for one in found:
        for sample in one.samples:
            if sample.problem is not None and sample.problem.cause is Cause.CRASHED:
                ended.setdefault(one.op, []).append((one.dtype, sample))
    return tuple(_abort(op, ended[op]) for op in sorted(ended) if len(ended[op]) > 1)


def _abort(op: str, ended: list[tuple[str, LoweredSample]]) -> Abort:
    _, smallest = min(ended, key=lambda item: item[1].elements)
    return Abort(
        op=op,
        dtypes=tuple(sorted({dtype for dtype, _ in ended}, key=place)),
        message=smallest.problem.message if smallest.problem else "",
        arguments=smallest.arguments,
        tensors=smallest.tensors,
        samples=len(ended),
    )


def edge_cases(workspace: Workspace, found: Iterable[Found]) -> list[Suspect]:
    """Return one sample for each op and dtype to take to the edge, each program once.

    It has agreed so far; a suspect only in so far as nobody looked there.
    """
    chosen: dict[str, Suspect] = {}
    for one in found:
        agreed = [
            sample
            for sample in plan.with_values(one)
            if not sample.flags & _NO_EDGE
            and (ran := one.ran.get(sample.index)) is not None
            and ran.problem is None
        ]
        if one.dtype not in _EDGE_DTYPES or not agreed:
            continue
        sample = agreed[0]
        if not has_mosaic(workspace.text(sample.program or "")):
            case = Suspect(op=one.op, dtype=one.dtype, kind="", sample=sample, message="")
            chosen.setdefault(sample.program or "", case)
    return list(chosen.values())
