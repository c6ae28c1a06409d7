"""TPA926: parameters that end a training step without a gradient."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tpu_audit.audit.code import Code, Said
from tpu_audit.audit.detectors import no_gradient
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tpu_audit.audit.call import Call, Hit
    from tpu_audit.types.trace import LostGradient

CODE = Code(
    code="TPA926",
    name="no-gradient",
    severity=Severity.ERROR,
    summary="Parameters end a training step without a gradient on the TPU; the CPU gives them one.",
    why=(
        "Training goes on without an error, and these weights never change. The step was run on "
        "the pretended device and, where parameters were left without a gradient, on the CPU as "
        "well: what both leave out is the model's own doing and no finding."
    ),
    fix=(
        "Replace the op that cuts them off by pieces that have derivatives, then check after one "
        "step that `parameter.grad` is not None for these."
    ),
    references=("tpu-audit registry show OP: kernel at PrivateUse1, fallthrough for autograd",),
)
_NAMED = 3
"""Parameters that a sentence has room for."""


def with_parameters(hits: Iterable[Hit], call: Call, lost: Sequence[LostGradient]) -> list[Hit]:
    """Return ``hits``, with a cut that costs parameters their gradient told by those.

    An op that is cut off may cost no parameter all of its gradient, where others pass by it: then
    it stays a finding about the op.
    """
    names = [one.parameter for one in lost if one.op == call.use.op]
    if not names:
        return list(hits)
    return [_naming(hit, names) if hit.code is no_gradient.CODE else hit for hit in hits]


def _naming(hit: Hit, names: Sequence[str]) -> Hit:
    reason = f"{_sentence(names)}: {hit.reason}"
    return replace(hit, code=CODE, severity=CODE.severity, reason=reason)


def unexplained(lost: Iterable[LostGradient]) -> Said | None:
    """Return what to say of parameters that no op is known to have cut off."""
    names = [one.parameter for one in lost if one.op is None]
    if not names:
        return None
    message = f"{_sentence(names)}; which op cuts them off is not known"
    return Said(severity=CODE.severity, message=message, fix=CODE.fix)


def _sentence(names: Sequence[str]) -> str:
    listed = ", ".join(names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    count = "1 parameter ends" if len(names) == 1 else f"{len(names)} parameters end"
    return f"{count} the step without a gradient, which the CPU gives: {listed}{more}"
