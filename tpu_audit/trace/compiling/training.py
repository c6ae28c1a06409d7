"""Forward and backward of a training step under Dynamo: the model compiled, as people do it.

The loop around it (clipping, the optimizer) is not compiled.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch

from tpu_audit.trace.compiling.again import other_values, same_inputs, tried
from tpu_audit.trace.compiling.session import with_recompiles
from tpu_audit.trace.phases.train_mode import enter_train_mode
from tpu_audit.trace.phases.training import can_train, learn
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from tpu_audit.trace.compiling.session import Session
    from tpu_audit.trace.phases.interface import Subject
    from tpu_audit.types.compiled import CompileTrace


def run(subject: Subject, session: Session) -> tuple[CompileTrace, ...]:
    """Compile the model's forward in train mode, with its labels; then go backward through it."""
    if not can_train(subject):
        raise NotAuditedError(
            f"{type(subject.model).__name__} has nothing to train",
            stage=Stage.TRACE,
            code="no_training",
            skipped=True,
        )
    enter_train_mode(subject)
    once = partial(learn, subject)
    subject.model.forward = session.compiled(subject.model.forward)
    # Threads of autograd's engine would ask for devices, and there are none.
    with torch.autograd.set_multithreading_enabled(False), torch.enable_grad():
        labelled, trace = session.first(session.settings.phase, once)
        once = partial(learn, subject, labelled=labelled)
        again = tried(partial(same_inputs, once, session.backend))
        otherwise = tried(partial(other_values, once))
    return (with_recompiles(trace, again, otherwise),)
