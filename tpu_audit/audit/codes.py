"""The finding codes of ops and models, and the detectors behind them. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.detectors import (
    attention,
    compiled_break,
    compiled_op,
    compiled_shape,
    compiled_step,
    complex_compute,
    disagrees,
    dynamic_shape,
    emulated,
    float16,
    guessed,
    host_sync,
    int64_compute,
    missing,
    nearest_class,
    no_gradient,
    quantised,
    rejected,
    remote_code,
    scores,
    stand_in,
    transfer,
    undecided,
    unrolled,
    untrained,
)

if TYPE_CHECKING:
    from tpu_audit.audit.code import Code

Detector = Callable[[Call], Hit | None]

_CALL_DETECTORS = (
    missing,
    rejected,
    undecided,
    host_sync,
    dynamic_shape,
    emulated,
    attention,
    transfer,
    no_gradient,
    float16,
    guessed,
    scores,
    complex_compute,
    unrolled,
    int64_compute,
    disagrees,
    stand_in,
)
_MODEL_DETECTORS = (remote_code, nearest_class, quantised)
_STEP_DETECTORS = (untrained,)
_COMPILE_DETECTORS = (compiled_break, compiled_step, compiled_shape, compiled_op)

DETECTORS: tuple[Detector, ...] = tuple(module.detect for module in _CALL_DETECTORS)
"""What looks at each distinct call. A new code is one module and one line above."""

CODES: Mapping[str, Code] = MappingProxyType(
    {
        module.CODE.code: module.CODE
        for module in sorted(
            (*_CALL_DETECTORS, *_MODEL_DETECTORS, *_COMPILE_DETECTORS, *_STEP_DETECTORS),
            key=lambda m: m.CODE.code,
        )
    }
)
"""Code -> its documentation, in order of the codes."""


def lookup(name: str) -> Code | None:
    """Return the code called ``TPA901`` or ``missing-op``, in any case; None when there is none."""
    wanted = name.strip().lower()
    found = (code for code in CODES.values() if wanted in {code.code.lower(), code.name})
    return next(found, None)
