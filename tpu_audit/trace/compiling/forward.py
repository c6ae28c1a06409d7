"""The forward under Dynamo: once, again, with another length, with another batch."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from tpu_audit.trace.compiling.again import other_values, recompiled, same_inputs, tried
from tpu_audit.trace.compiling.session import with_recompiles
from tpu_audit.trace.phases.interface import autocasting
from tpu_audit.trace.runner import make_inputs
from tpu_audit.types.compiled import Change, CompileTrace, Recompile

if TYPE_CHECKING:
    from collections.abc import Callable

    from tpu_audit.trace.compiling.session import Session
    from tpu_audit.trace.phases.interface import Subject


def run(subject: Subject, session: Session) -> tuple[CompileTrace, ...]:
    """Compile one call of the model."""
    call = session.compiled(subject.entry)
    settings = subject.settings
    once = partial(call, **subject.inputs)
    with torch.no_grad(), autocasting(settings):
        _, trace = session.first(settings.phase, once)
        trace = with_recompiles(
            trace,
            tried(partial(same_inputs, once, session.backend)),
            tried(partial(other_values, once)),
        )
        for change, was in ((Change.SEQ_LEN, settings.seq_len), (Change.BATCH, settings.batch)):
            trace = with_recompiles(trace, tried(partial(_changed, subject, call, change, was)))
    return (trace,)


def _changed(
    subject: Subject, call: Callable[..., Any], change: Change, was: int
) -> Recompile | None:
    """Call with another size; None where the inputs do not depend on it."""
    now = was // 2 if was > 1 else was * 2
    before = subject.settings
    longer = change is Change.SEQ_LEN
    settings = replace(before, seq_len=now) if longer else replace(before, batch=now)
    inputs = make_inputs(subject.model, subject.config, subject.spec, settings).kwargs
    if _shapes(inputs) == _shapes(subject.inputs):
        return None
    anew, guard = recompiled(partial(call, **inputs))
    return Recompile(change=change, anew=anew, guard=guard, was=was, now=now)


def _shapes(inputs: Any) -> list[tuple[int, ...]]:
    leaves = torch.utils._pytree.tree_leaves(dict(inputs))
    return [tuple(leaf.shape) for leaf in leaves if isinstance(leaf, torch.Tensor)]
