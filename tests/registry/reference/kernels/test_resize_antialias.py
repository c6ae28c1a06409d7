"""Antialiased resize where eager CPU PyTorch cannot show it: half precision, odd scales."""

from __future__ import annotations

import pytest
import torch

from op_registry.reference.kernels.resize_antialias import (
    upsample_bicubic2d_aa,
    upsample_bilinear2d_aa,
    upsample_lanczos2d_aa_backward,
)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_f32_rounded_once(dtype: torch.dtype) -> None:
    """Eager has no half precision on the CPU: the kernel rounds f32's result, nothing between."""
    image = torch.rand(1, 3, 9, 14, generator=torch.manual_seed(0)).to(dtype)
    expected = torch.ops.aten._upsample_bicubic2d_aa(image.float(), [5, 21], align_corners=False)
    found = upsample_bicubic2d_aa(image, [5, 21], align_corners=False)
    assert found.dtype is dtype
    torch.testing.assert_close(found, expected.to(dtype))


def test_points_outside_of_the_input_are_zero() -> None:
    """A given scale may lead past the input, where no element has a weight: no NaN comes out."""
    found = upsample_bilinear2d_aa(
        torch.ones(1, 1, 4, 4), [4, 4], align_corners=False, scales_h=0.2
    )
    assert found.isfinite().all()
    assert found[0, 0, -1].eq(0).all()


@pytest.mark.parametrize(
    ("shape", "sizes", "told"),
    [((1, 4, 4), [2, 2], "same shape"), ((1, 1, 3, 2), [2, 2], "same shape")],
)
def test_a_gradient_of_another_shape_is_refused(
    shape: tuple[int, ...], sizes: list[int], told: str
) -> None:
    """A gradient that is none of this resize is told, as eager does."""
    with pytest.raises(RuntimeError, match=told):
        upsample_lanczos2d_aa_backward(torch.ones(shape), sizes, [1, 1, 4, 4], align_corners=False)


def test_empty_images_and_sizes_are_refused() -> None:
    """What eager refuses to resize is refused in its words."""
    with pytest.raises(RuntimeError, match="Non-empty 4D data tensor expected"):
        upsample_bilinear2d_aa(torch.ones(1, 0, 4, 4), [2, 2], align_corners=False)
    with pytest.raises(RuntimeError, match="greater than 0"):
        upsample_bilinear2d_aa(torch.ones(1, 1, 4, 4), [2, 0], align_corners=False)
