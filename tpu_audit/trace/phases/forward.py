"""One call of the model's forward, or of the method that inference runs, without gradients."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from tpu_audit.trace.phases.interface import attempt, autocasting

if TYPE_CHECKING:
    from collections.abc import Callable

    from tpu_audit.trace.phases.interface import Subject

NAME = "forward"


def run(subject: Subject) -> None:
    """Call the model once."""
    recorder = subject.recorder
    hint = "the config may be incomplete, or these inputs may not fit the model"
    recorder.enter(NAME)
    try:
        with torch.no_grad(), autocasting(subject.settings):
            attempt(partial(method_of(subject), **subject.inputs), NAME, hint)
    finally:
        recorder.enter(None)


def method_of(subject: Subject) -> Callable[..., Any]:
    """Return what to call; what a method runs by itself counts as the model's."""
    if subject.method == "forward":
        return subject.entry

    def call(**inputs: Any) -> Any:
        with subject.places.within():
            return subject.entry(**inputs)

    return call
