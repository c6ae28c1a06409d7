"""torchvision's ops beyond what its own kernels were recorded for."""

from __future__ import annotations

import pytest
import torch

from op_registry.reference.kernels.torchvision_deform_conv2d import (
    deform_conv2d,
    deform_conv2d_backward,
)
from op_registry.reference.kernels.torchvision_nms import kept, nms
from op_registry.reference.kernels.torchvision_ps_roi import ps_roi_align, ps_roi_align_backward
from op_registry.reference.kernels.torchvision_roi_align import roi_align, roi_align_backward
from op_registry.reference.kernels.torchvision_roi_pool import roi_pool, roi_pool_backward
from op_registry.reference.recorded import recorded

ROIS = torch.tensor([[0, 0.3, 0.2, 5.1, 4.4], [1, 1.7, 2.2, 3.9, 5.6]], dtype=torch.float64)


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    """Return normal numbers that want a gradient."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, dtype=torch.float64, generator=generator).requires_grad_()


def greedy(boxes: torch.Tensor, scores: torch.Tensor, threshold: float) -> list[int]:
    """Keep a box unless it overlaps one that was kept: the definition, box by box."""
    chosen: list[int] = []
    for number in scores.sort(descending=True, stable=True).indices.tolist():
        if all(overlap(boxes[number], boxes[other]) <= threshold for other in chosen):
            chosen.append(number)
    return chosen


def overlap(one: torch.Tensor, other: torch.Tensor) -> float:
    """Return intersection over union of two boxes."""
    shared = (torch.min(one, other)[2:] - torch.max(one, other)[:2]).clamp(min=0).prod()
    areas = [(box[2:] - box[:2]).prod() for box in (one, other)]
    return float(shared / (areas[0] + areas[1] - shared))


@pytest.mark.parametrize("count", [2, 63, 64, 65, 300])
def test_suppression_is_greedy(count: int) -> None:
    """Blocks and chains of suppression come to what deciding box by box comes to."""
    generator = torch.Generator().manual_seed(count)
    corner = torch.rand(count, 2, generator=generator) * 4
    boxes = torch.cat([corner, corner + torch.rand(count, 2, generator=generator) * 3], 1)
    scores = torch.rand(count, generator=generator)
    assert nms(boxes, scores, 0.4).tolist() == greedy(boxes, scores, 0.4)


def test_a_long_chain_is_followed_to_its_end() -> None:
    """Each box overlaps the next one only: every second stays, however long the chain."""
    left = torch.arange(200.0) * 0.5
    boxes = torch.stack([left, torch.zeros(200), left + 1, torch.ones(200)], 1)
    _, stays = kept(boxes, torch.arange(200.0).flip(0), 0.3)
    assert stays.tolist() == [number % 2 == 0 for number in range(200)]


@pytest.mark.parametrize(
    ("boxes", "scores", "told"),
    [
        (torch.ones(3, 5), torch.ones(3), "boxes should be"),
        (torch.ones(3, 4), torch.ones(2), "scores should be"),
        (torch.ones(3, 4), torch.ones(3, dtype=torch.float64), "same type"),
    ],
)
def test_boxes_and_scores_have_to_fit(boxes: torch.Tensor, scores: torch.Tensor, told: str) -> None:
    """What torchvision refuses is refused."""
    with pytest.raises(RuntimeError, match=told):
        nms(boxes, scores, 0.5)


@pytest.mark.parametrize("ratio", [0, 2])
def test_the_backward_of_aligned_pools_is_their_derivative(ratio: int) -> None:
    """What autograd finds of the forward kernels is what the backward kernels return."""
    x, pool, image = random(2, 8, 6, 7), (0.9, 2, 2), (2, 8, 6, 7)
    out = roi_align(x, ROIS, *pool, ratio, aligned=True)
    found = roi_align_backward(torch.ones_like(out), ROIS, *pool, *image, ratio, aligned=True)
    torch.testing.assert_close(found, torch.autograd.grad(out.sum(), x)[0])
    by_bin, mapping = ps_roi_align(x, ROIS, *pool, ratio)
    ones = torch.ones_like(by_bin)
    found = ps_roi_align_backward(ones, ROIS, mapping, *pool, ratio, *image)
    torch.testing.assert_close(found, torch.autograd.grad(by_bin.sum(), x)[0])


def test_the_backward_of_the_max_pool_is_its_derivative() -> None:
    """The places that the forward returns are where the gradient goes."""
    x, pool = random(2, 3, 6, 7), (0.9, 2, 3)
    out, places = roi_pool(x, ROIS, *pool)
    weights = torch.arange(out.numel(), dtype=out.dtype).reshape(out.shape)
    found = roi_pool_backward(weights, ROIS, places, *pool, 2, 3, 6, 7)
    torch.testing.assert_close(found, torch.autograd.grad((out * weights).sum(), x)[0])


def test_the_backward_of_the_deformable_convolution_is_its_derivative() -> None:
    """Input, weight, offset, mask and bias: all five gradients are those of the forward kernel."""
    given = (
        random(2, 4, 6, 5),
        random(4, 2, 3, 3, seed=1),
        random(2, 36, 6, 5, seed=2),
        random(2, 18, 6, 5, seed=3),
        random(4, seed=4),
    )
    settings = (1, 1, 1, 1, 1, 1, 2, 2)
    out = deform_conv2d(*given, *settings, use_mask=True)
    gradient = random(*out.shape, seed=5).detach()
    expected = torch.autograd.grad(out, given, gradient)
    found = deform_conv2d_backward(gradient, *given, *settings, use_mask=True)
    torch.testing.assert_close(found, expected)


def test_an_offset_of_another_size_is_refused() -> None:
    """The places have to be as many as the outputs."""
    with pytest.raises(RuntimeError, match=r"offset should be \[1, 18, 4, 4\]"):
        deform_conv2d(
            torch.ones(1, 1, 6, 6),
            torch.ones(1, 1, 3, 3),
            torch.ones(1, 18, 5, 4),
            torch.ones(1, 0),
            torch.ones(1),
            *(1, 1, 0, 0, 1, 1, 1, 1),
            use_mask=False,
        )


def test_what_was_not_recorded_is_no_result() -> None:
    """A stand-in answers for the samples that torchvision ran, and for nothing else."""
    with pytest.raises(RuntimeError, match="no result of torchvision"):
        recorded("torchvision.nms.default")(torch.ones(1, 4), torch.ones(1), 0.123)
