"""Lowers forward and backward of a sample together; says what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from op_registry.verify.examine import Examiner
from op_registry.verify.joint import joint

if TYPE_CHECKING:
    from op_registry.build.samples.sample import Sample

MOST_SAMPLES = 2
"""Differentiated of one op."""


class JointExaminer(Examiner):
    """As ``Examiner``, for the samples that the CPU can differentiate."""

    kind = "gradients"
    uses_stand_ins = False

    def samples(self, op: str, func: Any) -> list[Sample]:
        """Return the first samples of ``op`` with a gradient."""
        found: list[Sample] = []
        for sample in super().samples(op, func):
            if len(found) < MOST_SAMPLES and joint(func, sample) is not None:
                found.append(sample)
        return found

    def subject(self, func: Any, sample: Sample) -> tuple[Any, Sample]:
        """Return forward and backward as one function, and its arguments."""
        made = joint(func, sample)
        return (func, sample) if made is None else made
