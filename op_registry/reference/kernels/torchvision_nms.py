"""``torchvision::nms``: of overlapping boxes the one with the highest score stays."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.recorded import recorded

_BLOCK = 64
"""Boxes that are decided one after the other before all later ones are compared with them."""


def kept(
    dets: torch.Tensor, scores: torch.Tensor, iou_threshold: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the boxes' indices by falling score (N), and which of these stay (N, bool).

    A box stays unless it overlaps an earlier one that stays. Within a block of boxes this is
    iterated as often as there are boxes, when it cannot change any more; then the block suppresses
    all that come later in one product. The program takes about three ops for each box.
    """
    order = scores.sort(descending=True, stable=True).indices
    overlap = _overlap(dets.index_select(0, order)) > iou_threshold
    suppresses = overlap.triu(1).float()
    stays = torch.ones_like(scores, dtype=torch.float32)
    decided = []
    for start in range(0, scores.shape[0], _BLOCK):
        end = min(start + _BLOCK, scores.shape[0])
        block = _decide(stays[: end - start], suppresses[start:end, start:end])
        decided.append(block)
        hit = torch.mv(suppresses[start:end, end:].t(), block)
        stays = stays[end - start :] * (hit == 0)
    return order, torch.cat([*decided, stays]) > 0


def _decide(candidates: torch.Tensor, suppresses: torch.Tensor) -> torch.Tensor:
    stays = candidates
    for _ in range(candidates.shape[0] - 1):
        stays = candidates * (torch.mv(suppresses.t(), stays) == 0)
    return stays


def _overlap(boxes: torch.Tensor) -> torch.Tensor:
    """Return intersection over union of every two boxes, (N, N), in f32 for half precision."""
    boxes = boxes if boxes.dtype == torch.float64 else boxes.float()
    x1, y1, x2, y2 = boxes.unbind(1)
    area = (x2 - x1) * (y2 - y1)
    width = torch.minimum(x2.unsqueeze(1), x2) - torch.maximum(x1.unsqueeze(1), x1)
    height = torch.minimum(y2.unsqueeze(1), y2) - torch.maximum(y1.unsqueeze(1), y1)
    shared = width.clamp(min=0) * height.clamp(min=0)
    return shared / (area.unsqueeze(1) + area - shared)


@kernel(
    "torchvision.nms.default",
    source="greedy suppression, as in torchvision's nms_kernel.cpp",
    accuracy="exact, but for overlaps within rounding of the threshold",
    dynamic="the number of boxes kept depends on the scores",
    static_part=kept,
    expected=recorded("torchvision.nms.default"),
    nonfinite="a NaN coordinate overlaps nothing; eager's std::max may take the other operand",
)
def nms(dets: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """Return the indices (int64) of the boxes that stay, by falling score.

    ``dets`` (N, 4) are x1, y1, x2, y2, ``scores`` (N). All shapes are static up to the last step,
    which waits for the host to learn how many boxes stayed; ``kept`` is what comes before.
    """
    _check(dets, scores)
    order, stays = kept(dets, scores, iou_threshold)
    return order.index_select(0, stays.nonzero().squeeze(1))


def _check(dets: torch.Tensor, scores: torch.Tensor) -> None:
    if dets.dim() != 2 or dets.shape[1] != 4:
        raise RuntimeError(f"boxes should be (N, 4), got {list(dets.shape)}")
    if scores.dim() != 1 or scores.shape[0] != dets.shape[0]:
        raise RuntimeError(
            f"scores should be ({dets.shape[0]}), one for each box, got {list(scores.shape)}"
        )
    if dets.dtype != scores.dtype:
        raise RuntimeError(
            f"dets should have the same type as scores, got {dets.dtype} and {scores.dtype}"
        )
