"""One call of the model's forward, without gradients."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch

from tpu_audit.trace.phases.interface import attempt

if TYPE_CHECKING:
    from tpu_audit.trace.phases.interface import Subject

NAME = "forward"


def run(subject: Subject) -> None:
    """Call the model once."""
    recorder = subject.recorder
    hint = "the config may be incomplete, or these inputs may not fit the model"
    recorder.enter(NAME)
    try:
        with torch.no_grad():
            attempt(partial(subject.model, **subject.inputs), NAME, hint)
    finally:
        recorder.enter(None)
