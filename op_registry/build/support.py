"""The rules that turn the dispatcher's table and the sample runs into a verdict for each op."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from op_registry.build.declarations import Declaration
from op_registry.build.observation import Answer, Run
from op_registry.schema import EndsIn, Fallback, Resolution, Support

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from op_registry.build.table import Entry

_UNDECLARED = Declaration()
_NO_KERNEL = "no TPU kernel"
_RAISES = "PrivateUse1 resolves to the fallback that raises"
_OTHER_KEY = (
    "no kernel at PrivateUse1, but a sample ran: another dispatch key (a layout's) serves it"
)
_REFUSES = re.compile(
    r"DispatchStub: missing kernel for|device type, got:|_overrideable not implemented"
)
"""What PyTorch's own code says when it has nothing for a device."""
_HOW = {
    EndsIn.STRUCTURED: "structured op, ends in",
    EndsIn.GENERATED: "generated form that calls and copies, ends in",
}
_IMPLICIT_UNSEEN = "decomposes before it reaches the backend and no sample ran: judge its pieces"
_EXPLICIT_UNSEEN = "a composite whose pieces no sample showed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Ruling:
    """Support with its reason, and for a composite what it ends in."""

    support: Support
    reason: str
    ends_in: tuple[str, ...] | None = None
    how: EndsIn | None = None


class Rules:
    """Decides over one table; a composite is decided by what it ends in."""

    def __init__(
        self,
        table: Mapping[str, Entry],
        declared: Mapping[str, Declaration],
        runs: Mapping[str, Sequence[Run]],
    ) -> None:
        self._table = table
        self._declared = declared
        self._runs = runs

    def rule(self, op: str) -> Ruling:
        """Return the verdict for ``op``, which must be in the table."""
        entry = self._table[op]
        if entry.privateuse1 is Resolution.KERNEL:
            return Ruling(support=Support.NATIVE, reason="a TPU kernel is registered")
        if entry.privateuse1 is Resolution.FALLBACK:
            return self._without_kernel(op)
        declared = self._declared.get(op, _UNDECLARED)
        if (delegate := declared.structured_delegate) and delegate in self._table:
            return self._through(delegate, EndsIn.STRUCTURED)
        ruling = self._observed(entry)
        source = declared.generated_from
        if ruling.support is Support.UNKNOWN and source and source in self._table:
            return self._through(source, EndsIn.GENERATED)
        return ruling

    def _without_kernel(self, op: str) -> Ruling:
        replies = [r for run in self._runs.get(op, ()) if (r := run.leaves.get(op))]
        if any(reply.answer is Answer.RAN for reply in replies):
            return Ruling(support=Support.UNKNOWN, reason=_OTHER_KEY)
        said = [r.message for r in replies if r.answer is Answer.NOT_IMPLEMENTED]
        return Ruling(
            support=Support.MISSING, reason=f"{_NO_KERNEL}: {said[0] if said else _RAISES}"
        )

    def _through(self, other: str, how: EndsIn) -> Ruling:
        inner = self.rule(other)
        words = "which has a TPU kernel" if inner.support is Support.NATIVE else inner.reason
        return Ruling(
            support=inner.support, reason=f"{_HOW[how]} {other}: {words}", ends_in=(other,), how=how
        )

    def _observed(self, entry: Entry) -> Ruling:
        runs = self._runs.get(entry.op, ())
        whole = [run for run in runs if not run.error]
        # A run that met a gap has shown that the op raises, whatever went wrong behind the gap.
        if not whole and runs and all(self._gaps(run) for run in runs):
            whole = list(runs)
        if not whole and runs and all(_REFUSES.search(run.error) for run in runs):
            reason = f"a composite whose own code refuses the device: {runs[0].error}"
            return Ruling(support=Support.MISSING, reason=reason)
        if not whole:
            return Ruling(support=Support.UNKNOWN, reason=_unseen(entry, runs))
        leaves = tuple(sorted({leaf for run in whole for leaf in run.leaves}))
        support, reason = self._judge(whole)
        return Ruling(support=support, reason=reason, ends_in=leaves, how=EndsIn.OBSERVED)

    def _judge(self, runs: Sequence[Run]) -> tuple[Support, str]:
        gaps = set().union(*map(self._gaps, runs))
        if not any(run.leaves for run in runs):
            return (
                Support.NATIVE,
                "calls no op on the device (views, sizes and the like): needs no kernel",
            )
        if not gaps:
            return Support.NATIVE, "a composite that ends in TPU kernels in every sample"
        names = ", ".join(sorted(gaps))
        if all(map(self._gaps, runs)):
            return Support.MISSING, f"a composite that ends in {names}, without a TPU kernel"
        return Support.UNKNOWN, (
            f"depends on the arguments: some samples ended in {names}, without a TPU kernel"
        )

    def _gaps(self, run: Run) -> set[str]:
        return {leaf for leaf in run.leaves if not self._has_kernel(leaf)}

    def _has_kernel(self, leaf: str) -> bool:
        entry = self._table.get(leaf)
        return entry is not None and entry.privateuse1 is Resolution.KERNEL


def fallback_of(ruling: Ruling, op: str, table: Mapping[str, Entry]) -> Fallback | None:
    """Return what a missing op could do with the CPU fallback switched on, None when not missing.

    The fallback calls the CPU kernel of the op that misses: of every such piece of a composite.
    """
    if ruling.support is not Support.MISSING:
        return None
    pieces = ruling.ends_in or (op,)
    gaps = [table[p] for p in pieces if p in table and table[p].privateuse1 is Resolution.FALLBACK]
    cpu = bool(gaps) and all(entry.cpu_kernel for entry in gaps)
    return Fallback.CPU_IF_ENABLED if cpu else Fallback.NEVER


def _unseen(entry: Entry, runs: Sequence[Run]) -> str:
    implicit = entry.privateuse1 is Resolution.COMPOSITE_IMPLICIT
    words = _IMPLICIT_UNSEEN if implicit else _EXPLICIT_UNSEEN
    return f"{words} ({runs[0].error})" if runs else words
