"""The rules that turn the dispatcher's table and the sample runs into a verdict for each op."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from op_registry.build.declarations import delegate_of
from op_registry.build.observation import Answer, Run
from op_registry.schema import EndsIn, Fallback, Resolution, Support

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from op_registry.build.declarations import Declaration
    from op_registry.build.table import Entry

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
            return Ruling(support=Support.MISSING, reason=self._missing(op))
        delegate = delegate_of(self._declared, op)
        if delegate is not None and delegate in self._table:
            return self._structured(delegate)
        return self._observed(entry)

    def _structured(self, delegate: str) -> Ruling:
        inner = self.rule(delegate)
        words = "which has a TPU kernel" if inner.support is Support.NATIVE else inner.reason
        return Ruling(
            support=inner.support,
            reason=f"structured op: ends in {delegate}, {words}",
            ends_in=(delegate,),
            how=EndsIn.STRUCTURED,
        )

    def _observed(self, entry: Entry) -> Ruling:
        runs = self._runs.get(entry.op, ())
        whole = [run for run in runs if not run.error]
        if not whole:
            return Ruling(support=Support.UNKNOWN, reason=_unseen(entry, runs))
        leaves = tuple(sorted({leaf for run in whole for leaf in run.leaves}))
        support, reason = self._judge(whole, leaves)
        return Ruling(support=support, reason=reason, ends_in=leaves, how=EndsIn.OBSERVED)

    def _judge(self, runs: Sequence[Run], leaves: tuple[str, ...]) -> tuple[Support, str]:
        gaps = {leaf for leaf in leaves if not self._has_kernel(leaf)}
        stopped = [run for run in runs if gaps.intersection(run.leaves)]
        if not leaves:
            return Support.NATIVE, "reads or changes metadata only: no kernel is needed"
        if not gaps:
            return Support.NATIVE, "a composite that ends in TPU kernels in every sample"
        names = ", ".join(sorted(gaps))
        if len(stopped) == len(runs):
            return Support.MISSING, f"a composite that ends in {names}, without a TPU kernel"
        return Support.UNKNOWN, (
            f"depends on the arguments: {len(stopped)} of {len(runs)} samples ended in {names}, "
            "without a TPU kernel"
        )

    def _has_kernel(self, leaf: str) -> bool:
        entry = self._table.get(leaf)
        return entry is not None and entry.privateuse1 is Resolution.KERNEL

    def _missing(self, op: str) -> str:
        said = [
            reply.message
            for run in self._runs.get(op, ())
            if (reply := run.leaves.get(op)) and reply.answer is Answer.NOT_IMPLEMENTED
        ]
        if said:
            return f"no TPU kernel; the call raises: {said[0]}"
        return "no TPU kernel: PrivateUse1 resolves to the fallback that raises"


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
