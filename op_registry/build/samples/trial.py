"""Tries a sample on the CPU, whose answer decides whether the call makes sense at all."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

import torch

from op_registry.build.samples.sample import seed

if TYPE_CHECKING:
    from op_registry.build.samples.sample import Sample


def outcome(func: Any, sample: Sample) -> tuple[bool, Any]:
    """Run ``func`` on a copy of ``sample``; return whether it ran, and its result."""
    if not sample.usable():
        return False, None
    copied = sample.copied()
    seed()
    with contextlib.suppress(Exception), warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        return True, func(*copied.args, **copied.kwargs)
    return False, None
