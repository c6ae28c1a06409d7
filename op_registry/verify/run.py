"""One verification from end to end: choose, run, collect, merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from op_registry.errors import RegistryError
from op_registry.schema import Snapshot
from op_registry.verify.collect import collect
from op_registry.verify.crew import work_off
from op_registry.verify.discrepancies import Inquiry, aborts, edge_cases, suspects
from op_registry.verify.facts import Found
from op_registry.verify.inquest import Inquest
from op_registry.verify.merge import merge
from op_registry.verify.pipeline import Pipeline
from op_registry.verify.plan import ops_of
from op_registry.verify.tools import HEADER, signatures
from op_registry.verify.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from op_registry.verify.hand import Hand
    from op_registry.verify.plan import Selection
    from op_registry.verify.tasks import Tasks
    from op_registry.verify.tools import Tools


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """What a verification came to."""

    snapshot: Snapshot
    """With the evidence merged in."""
    found: Mapping[str, Sequence[Found]]
    """By op: what is known at each dtype."""
    done: Mapping[str, int]
    """Stage -> tasks done by this run."""
    reused: int
    """Results that an earlier run had left."""


class Verification:
    """Verifies ops of ``snapshot`` with ``tools``; its work lies under the folder ``work``.

    Raises RegistryError when the tools are of other versions than the snapshot, a pattern names no
    op, or the folder cannot be used. Use as a context manager: it holds the folder's journal.
    """

    def __init__(self, snapshot: Snapshot, tools: Tools, work: Path, selection: Selection) -> None:
        _check_versions(snapshot, tools)
        self._snapshot = snapshot
        self._tools = tools
        self._selection = selection
        self.ops = ops_of(snapshot, selection)
        """The ops that were chosen."""
        self.workspace = Workspace(work, tools.versions, signatures())

    def __enter__(self) -> Self:
        """Return the verification itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go of the journal."""
        self.workspace.journal.close()

    def inquire(
        self, verified: Verified, jobs: int, watch: Callable[[Tasks[Hand]], None]
    ) -> Inquiry:
        """Look a second time at what disagreed with eager PyTorch; errors as ``run``'s."""
        every = [one for found in verified.found.values() for one in found]
        inquest = Inquest(self.workspace, suspects(every), edge_cases(self.workspace, every))
        work_off(inquest.tasks, self._tools.python, jobs, lambda: watch(inquest.tasks))
        return replace(inquest.result(), aborts=aborts(every))

    def run(self, jobs: int, watch: Callable[[Pipeline], None]) -> Verified:
        """Do what is not done yet with ``jobs`` threads; see ``Pipeline.run`` for the errors."""
        pipeline = Pipeline(self.workspace, self._tools.python, self._selection, self.ops)
        pipeline.run(jobs, watch)
        found = collect(self.workspace, self.ops, self._selection.dtypes)
        versions = {name: self._tools.versions[name] for name in HEADER}
        return Verified(
            snapshot=merge(self._snapshot, found, versions),
            found=found,
            done=dict(pipeline.tasks.done),
            reused=pipeline.reused,
        )


def _check_versions(snapshot: Snapshot, tools: Tools) -> None:
    for name in ("torch", "torch-tpu", "libtpu"):
        made_with = snapshot.versions.get(name, "")
        if _public(made_with) != _public(tools.versions[name]):
            message = (
                f"the registry was extracted with {name} {made_with or 'of unknown version'}, "
                f"{tools.python!r} has {tools.versions[name]}"
            )
            hint = "choose another --registry or --python, or extract one: `registry build`"
            raise RegistryError(message, hint=hint)


def _public(version: str) -> str:
    return version.partition("+")[0]
