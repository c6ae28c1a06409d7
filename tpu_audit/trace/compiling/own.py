"""A program of the user's own under Dynamo: the module's forward, or the callable as a whole."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch

from tpu_audit.trace.compiling.again import same_inputs
from tpu_audit.trace.compiling.session import with_recompiles
from tpu_audit.trace.own import STEP
from tpu_audit.types.errors import NotAuditedError

if TYPE_CHECKING:
    from tpu_audit.trace.compiling.session import Session
    from tpu_audit.trace.own import Program
    from tpu_audit.types.compiled import CompileTrace, Recompile


def run(program: Program, session: Session) -> tuple[CompileTrace, ...]:
    """Compile one call; then call again with the same inputs."""
    once = partial(session.compiled(program.call), *program.args, **program.kwargs)
    # Threads of autograd's engine would ask for devices, and there are none.
    single = torch.autograd.set_multithreading_enabled(False)
    with single, torch.set_grad_enabled(program.phase == STEP):
        _, trace = session.first(program.phase, once)
        try:
            again: Recompile | None = same_inputs(once, session.backend)
        except NotAuditedError:
            raise
        except Exception:  # noqa: BLE001 - a program need not run twice
            again = None
    return (with_recompiles(trace, again),)
