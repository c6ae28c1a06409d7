"""Native only: every op that a kernel calls has a TPU kernel, and none waits for the host."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from op_registry.build.table import dotted
from op_registry.reference.checks.outcome import Outcome, tell
from op_registry.schema import Hazard, Support

if TYPE_CHECKING:
    from collections.abc import Sequence

    from op_registry.build.samples.sample import Sample
    from op_registry.reference.declare import Declaration
    from op_registry.schema import Snapshot

_SOMETIMES = "in some samples"
"""Words of a hazard that depends on the arguments: lowering decides."""


def check_native(
    declaration: Declaration, dtype: str, samples: Sequence[Sample], snapshot: Snapshot
) -> Outcome:
    """Trace the kernel on ``samples`` and look every op it calls up in ``snapshot``."""
    failures = []
    for sample in samples:
        try:
            seen = ops_called(declaration, sample)
        except Exception as error:  # noqa: BLE001 - whatever a kernel raises is what is told
            failures.append(tell(error))
            continue
        told = [why for op in sorted(seen) if (why := refusal(op, snapshot, declaration))]
        if declaration.op in seen:
            told.append(f"{declaration.op} is what it defines")
        if told:
            failures.append("; ".join(told))
    return Outcome(check="native", dtype=dtype, tried=len(samples), failures=tuple(failures))


def is_used(declaration: Declaration, snapshot: Snapshot) -> bool:
    """Tell whether the kernel is for use, not only for the record of an op that a TPU has."""
    record = snapshot.get(declaration.op)
    return record is None or record.support is not Support.NATIVE


def ops_called(declaration: Declaration, sample: Sample) -> set[str]:
    """Return the op overloads that the kernel calls on ``sample``, composites whole."""
    copied, recorder = sample.copied(), _Recorder()
    with warnings.catch_warnings(), torch.inference_mode(), recorder:
        warnings.simplefilter("ignore")
        declaration.function(*copied.args, **copied.kwargs)
    return recorder.seen


def refusal(op: str, snapshot: Snapshot, declaration: Declaration) -> str:
    """Return why the kernel must not call ``op``; empty when it may."""
    record = snapshot.get(op)
    if record is None:
        return f"{op} is no op that the registry knows"
    if record.support is not Support.NATIVE:
        return f"{op} is {record.support}: {record.reason}"
    for hazard in (Hazard.HOST_SYNC, Hazard.DYNAMIC_SHAPE):
        why = record.hazards.get(hazard, "")
        if why and not why_allowed(why, declaration):
            return f"{op}: {why}"
    return ""


def why_allowed(hazard: str, declaration: Declaration) -> bool:
    """Tell whether a kernel may meet ``hazard``: it said why, or only some calls are concerned."""
    return bool(declaration.dynamic) or _SOMETIMES in hazard


class _Recorder(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: set[str] = set()

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        del types  # the protocol has it
        self.seen.add(dotted(func.name()))
        return func(*args, **(kwargs or {}))
