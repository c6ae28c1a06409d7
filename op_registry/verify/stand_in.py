"""Fits the results of a reference kernel, standing in for eager PyTorch, to those of a program.

Ops without a CPU kernel return things beside their results that are the backend's own affair:
random states, lengths, masks for debugging. A reference kernel leaves them out or makes them up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from op_registry.verify.lowering import Lowered
    from op_registry.verify.values import Expected


def fitted(right: Expected, lowered: Lowered) -> Expected:
    """Return ``right`` with one output for each of the program's, in its order.

    An output that the reference kernel has not, or has in another dtype or shape, is undefined.
    """
    known = list(range(len(right.outputs)))
    outputs, references, undefined = [], [], []
    for place, (dtype, shape) in enumerate(lowered.shapes):
        at = next((one for one in known if _is_like(right.outputs[one], dtype, shape)), None)
        if at is None:
            undefined.append(place)
            outputs.append(torch.zeros(shape, dtype=dtype))
            references.append(outputs[-1])
            continue
        known = [one for one in known if one > at]
        outputs.append(right.outputs[at])
        references.append(right.reference[at] if right.reference else outputs[-1])
    return replace(
        right,
        outputs=outputs,
        reference=references if right.reference else None,
        undefined=tuple(undefined),
    )


def _is_like(tensor: torch.Tensor, dtype: torch.dtype, shape: tuple[int, ...]) -> bool:
    return tensor.dtype is dtype and tuple(tensor.shape) == shape
