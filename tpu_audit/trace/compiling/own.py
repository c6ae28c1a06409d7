"""A program of the user's own under Dynamo: the module's forward, or the callable as a whole."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch

from tpu_audit.trace.compiling.again import other_values, same_inputs, tried
from tpu_audit.trace.compiling.session import with_recompiles
from tpu_audit.trace.own import STEP

if TYPE_CHECKING:
    from tpu_audit.trace.compiling.session import Session
    from tpu_audit.trace.own import Program
    from tpu_audit.types.compiled import CompileTrace


def run(program: Program, session: Session) -> tuple[CompileTrace, ...]:
    """Compile one call; then call again with the same inputs."""
    once = partial(session.compiled(program.call), *program.args, **program.kwargs)
    # Threads of autograd's engine would ask for devices, and there are none.
    single = torch.autograd.set_multithreading_enabled(False)
    with single, torch.set_grad_enabled(program.phase == STEP):
        _, trace = session.first(program.phase, once)
        found = (
            tried(partial(same_inputs, once, session.backend)),
            tried(partial(other_values, once)),
        )
    return (with_recompiles(trace, *found),)
