"""Compares the definitions of ops with eager PyTorch, and settles on the one that holds."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from op_registry.build.reenter import CompositeMode
from op_registry.build.table import overload_of, read_table
from op_registry.reference.checks.values import check_values, taken
from op_registry.reference.declare import Declaration, declared
from op_registry.reference.derived import derive
from op_registry.reference.pointers import How, Reference, candidates

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from op_registry.build.samples.sample import Sample
    from op_registry.build.table import Entry
    from op_registry.reference.declare import Kernel


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    """What comparing a definition with eager PyTorch came to."""

    reference: Reference
    checks: Mapping[str, str] = field(default_factory=dict)
    """Dtype -> samples that agree (``12/12``)."""
    failures: tuple[str, ...] = ()
    """Messages of the others, with the dtype."""

    @property
    def agrees(self) -> bool:
        """Whether some sample agrees."""
        return any(not counts.startswith("0/") for counts in self.checks.values())

    @property
    def holds(self) -> bool:
        """Whether every sample agrees, and there was one."""
        return bool(self.checks) and not self.failures


def prove(
    op: str, samples: Mapping[str, Sequence[Sample]], *, lacking: bool = False
) -> Proof | None:
    """Return the first definition of ``op`` that agrees with eager on all of ``samples``.

    ``samples`` are by dtype; those that eager refuses do not count. When none agrees on all, the
    one with the fewest failures. Where the backend is ``lacking`` the op, an own kernel that agrees
    on some sample comes first: it is what gets installed. None when no definition was found, or
    each calls the op that it defines or agrees on no sample.
    """
    best: Proof | None = None
    for reference in candidates(op):
        installed = lacking and reference.how is How.OWN
        # What is installed calls only ops that the backend has, hence never the one it lacks; here
        # a CPU's own way of computing those may end in it, as its convolutions do.
        if not installed and calls_itself(reference, samples):
            continue
        found = _compare(reference, samples)
        if found.holds or not found.checks:
            return found
        if installed and found.agrees:
            return found
        if found.agrees and (best is None or len(found.failures) < len(best.failures)):
            best = found
    return best


def _compare(reference: Reference, samples: Mapping[str, Sequence[Sample]]) -> Proof:
    declaration = _own(reference) if reference.how is How.OWN else _torchs(reference)
    checks, failures = {}, []
    for dtype, calls in samples.items():
        possible = taken(declaration.eager, calls)
        if not possible:
            continue
        outcome = check_values(declaration, dtype, possible)
        checks[dtype] = outcome.counts
        failures += [f"{dtype}: {message}" for message in outcome.failures]
    return Proof(reference=reference, checks=checks, failures=tuple(failures))


def _own(reference: Reference) -> Declaration:
    """Return how an own kernel is compared: in another form as in the one that it is written in."""
    if not reference.of:
        return declared()[reference.op]
    written = declared()[reference.of]
    form = replace(written, op=reference.op, function=reference.function)
    if written.canonical:
        outs = {argument.name for argument in form.overload._schema.arguments if argument.is_out}
        form = replace(form, canonical=_without(outs, written.canonical))
    if written.expected:
        form = replace(form, expected=_formed(written, written.expected, reference.op))
    return form


def _without(outs: Collection[str], canonical: Kernel) -> Kernel:
    def call(result: Any, *args: Any, **kwargs: Any) -> Any:
        return canonical(result, *args, **{k: v for k, v in kwargs.items() if k not in outs})

    return call


def _formed(declaration: Declaration, function: Kernel, op: str) -> Kernel:
    forms = derive(replace(declaration, function=function))
    return next(form.function for form in forms if form.op == op)


def _torchs(reference: Reference) -> Declaration:
    return Declaration(
        op=reference.op,
        function=reference.function,
        source="",
        accuracy="",
        noise=_is_random(reference.op),
        canonical=_without_values if _is_uninitialised(reference.op) else None,
    )


def _is_random(op: str) -> bool:
    overload = overload_of(op)
    return overload is not None and torch.Tag.nondeterministic_seeded in overload.tags


def _is_uninitialised(op: str) -> bool:
    """Tell whether the result is memory as it was found: only its shape and dtype mean anything."""
    return op.split(".")[1].removeprefix("new_").startswith(("empty", "resize"))


def _without_values(result: Any, *args: Any, **kwargs: Any) -> Any:
    del args, kwargs
    return pytree.tree_map_only(torch.Tensor, torch.zeros_like, result)


def calls_itself(reference: Reference, samples: Mapping[str, Sequence[Sample]]) -> bool:
    """Tell whether the definition calls the op that it defines, or nothing at all.

    A composite has to be seen to call other ops; a Python function that calls none only returns
    its arguments.
    """
    defined = {reference.op, reference.of}
    for calls in samples.values():
        for sample in calls[:3]:
            seen = _called(reference, sample)
            opaque = seen == set() and reference.how is How.COMPOSITE
            if opaque or (seen is not None and seen & defined):
                return True
    return False


def _called(reference: Reference, sample: Sample) -> set[str] | None:
    mode = _Calls(_table())
    copied = sample.copied()
    try:
        with torch.inference_mode(), mode:
            reference.function(*copied.args, **copied.kwargs)
    except Exception:  # noqa: BLE001 - comparing tells
        return None
    return mode.seen


@functools.cache
def _table() -> dict[str, Entry]:
    return read_table()


class _Calls(CompositeMode):
    """Notes the ops that are called, composites themselves and what they end in."""

    def __init__(self, table: Mapping[str, Entry]) -> None:
        super().__init__(table)
        self.seen: set[str] = set()

    def composite(
        self, name: str, func: Any, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Note the call, then go on into the composite; the prims are where definitions end."""
        self.seen.add(name)
        if func.namespace == "prims":
            return func(*args, **kwargs)
        return super().composite(name, func, key, args, kwargs)

    def leaf(self, name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note the call, then run it."""
        self.seen.add(name)
        return super().leaf(name, func, args, kwargs)
