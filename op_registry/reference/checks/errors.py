"""Errors: a call that eager PyTorch refuses for its arguments, the kernel refuses as well."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import torch

from op_registry.reference.checks.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from op_registry.build.samples.sample import Sample
    from op_registry.reference.declare import Declaration

_KINDS = (RuntimeError, ValueError, IndexError, TypeError)
"""A RuntimeError covers NotImplementedError; eager's kernels and checks use them side by side."""


def check_errors(declaration: Declaration, samples: Sequence[Sample]) -> Outcome:
    """Call the kernel as eager refuses to be called."""
    failures, tried = [], 0
    for sample in samples:
        wanted = _error(declaration.overload, sample)
        if wanted is None:
            continue
        tried += 1
        found = _error(declaration.function, sample)
        if found is None:
            failures.append(f"no error where eager raises {wanted}: {sample.signature()[:200]}")
        elif not isinstance(found, _KINDS):
            failures.append(f"raises {type(found).__name__}: {found}, where eager raises {wanted}")
    return Outcome(check="errors", dtype="", tried=tried, failures=tuple(failures))


def _error(function: Callable[..., object], sample: Sample) -> Exception | None:
    copied = sample.copied()
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            function(*copied.args, **copied.kwargs)
    except Exception as error:  # noqa: BLE001 - the error is the finding
        return error
    return None
