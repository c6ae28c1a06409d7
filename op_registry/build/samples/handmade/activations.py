"""Activations' tangents and random forms, which torch's own inputs do not reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_SHAPES = (((6,), 0), ((4, 6), -1), ((2, 4, 3), 1))
"""Of the input, with the dimension that is halved."""


@handmade("aten.glu_jvp.default")
def glu_jvp(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield a gated linear unit, its input and the input's tangent."""
    if dtype in {torch.float32, torch.float64}:  # eager takes no others
        for shape, dim in _SHAPES:
            x, dx = torch.randn(2, *shape).to(dtype)
            yield call(torch.nn.functional.glu(x, dim), x, dx, dim)


@handmade("aten.glu_backward_jvp.default")
def glu_backward_jvp(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of a gated linear unit, and the tangents of what they depend on."""
    if dtype.is_floating_point:
        for shape, dim in _SHAPES:
            x, dx = torch.randn(2, *shape).to(dtype)
            grad, dgrad = (torch.randn_like(x.chunk(2, dim)[0]) for _ in range(2))
            grad_x = torch.ops.aten.glu_backward(grad, x, dim)
            yield call(grad_x, grad, x, dgrad, dx, dim)


@handmade("aten.rrelu_with_noise.out")
def rrelu_with_noise_out(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the calls below with a tensor for the result."""
    for sample in rrelu_with_noise(dtype):
        yield call(*sample.args, out=torch.empty_like(sample.args[0]))


@handmade("aten.rrelu_with_noise_functional.default", "aten.rrelu_with_noise_.default")
def rrelu_with_noise(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield calls in evaluation, in training, and in training with one slope for all."""
    if dtype.is_floating_point and dtype is not torch.float16:  # nor does eager take float16
        for shape in ((5,), (3, 4)):
            x, noise = torch.randn(shape).to(dtype), torch.zeros(shape, dtype=dtype)
            for lower, upper, training in ((0.1, 0.3, False), (0.1, 0.3, True), (0.25, 0.25, True)):
                yield call(x, noise, lower, upper, training)
