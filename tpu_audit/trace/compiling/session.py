"""One phase while it is compiled: what listens, what counts, what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch

from tpu_audit.trace.compiling.backend import Backend
from tpu_audit.trace.compiling.places import GraphPlaces
from tpu_audit.trace.compiling.watch import Watch
from tpu_audit.trace.recorder import Recorder
from tpu_audit.types.compiled import CompileTrace, Recompile
from tpu_audit.types.errors import NotAuditedError, Stage, shorten
from tpu_audit.types.trace import TraceSettings

if TYPE_CHECKING:
    from collections.abc import Callable


class GraphRecorder(Recorder):
    """A recorder that does not keep Dynamo from compiling below it."""

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Let Dynamo compile while this mode is on."""
        return True


@dataclass(kw_only=True, slots=True)
class Session:
    """Compiles for one model; several phases may come out of it."""

    settings: TraceSettings
    places: GraphPlaces
    recorder: GraphRecorder
    backend: Backend
    assumptions: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, settings: TraceSettings, places: GraphPlaces) -> Session:
        """Start with nothing compiled."""
        recorder = GraphRecorder(places)
        backend = Backend(recorder=recorder, places=places, phase=settings.phase)
        return cls(settings=settings, places=places, recorder=recorder, backend=backend)

    def compiled(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``call`` under Dynamo, with static shapes, as torch_tpu asks for them."""
        made: Callable[..., Any] = torch.compile(call, backend=self.backend, dynamic=False)
        return made

    def first(self, phase: str, call: Callable[[], Any]) -> tuple[Any, CompileTrace]:
        """Run the first call of ``phase``: (its result, what was compiled)."""
        backend, watch = self.backend, Watch(self.places)
        backend.phase = phase
        graphs, launches, refused = backend.graphs, backend.launches, len(backend.refused)
        with watch.listening():
            out = explained(call, phase)
        ledger = self.recorder.ledgers.get(phase)
        return out, CompileTrace(
            settings=replace(self.settings, phase=phase),
            graphs=backend.graphs - graphs,
            launches=backend.launches - launches,
            breaks=watch.breaks(),
            ops=ledger.uses() if ledger else (),
            assumptions=(
                *self.assumptions,
                *(
                    f"a graph was not taken by AOTAutograd, its calls are not judged: {why}"
                    for why in dict.fromkeys(backend.refused[refused:])
                ),
            ),
        )


def with_recompiles(trace: CompileTrace, *found: Recompile | None) -> CompileTrace:
    """Return ``trace`` with what later calls showed."""
    return replace(trace, recompiles=(*trace.recompiles, *(one for one in found if one)))


def explained(call: Callable[[], Any], phase: str) -> Any:
    """Run ``call``; what Dynamo or the model raises becomes a NotAuditedError."""
    try:
        return call()
    except NotAuditedError:
        raise
    except Exception as error:
        raise NotAuditedError(
            f"{phase} stopped under torch.compile: {shorten(error)}",
            stage=Stage.TRACE,
            code="compile_failed",
            hint="the phase's own trace, without --compile, says whether the model runs at all",
        ) from error
