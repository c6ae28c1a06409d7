"""SyncBatchNorm's backward: sums of one process, and the gradient from the sums of all."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels.sync_batch_norm import per_channel

_SOURCE = "Ioffe and Szegedy, Batch Normalization (2015), as in torch's CUDA Normalization.cuh"
Found = tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor | None, torch.Tensor | None]


def _wide(x: torch.Tensor) -> torch.Tensor:
    return x if x.dtype == torch.float64 else x.float()


@torch.no_grad()
def _reduce_expected(
    grad_out: torch.Tensor,
    input: torch.Tensor,
    mean: torch.Tensor,
    invstd: torch.Tensor,
    weight: torch.Tensor | None,
    input_g: bool,
    weight_g: bool,
    bias_g: bool,
) -> Found:
    given = (x.double().transpose(0, 1).flatten(1) for x in (grad_out, input))
    gradient, x = given
    sums = gradient.sum(1), (gradient * (x - mean.double().unsqueeze(1))).sum(1)
    parameter = mean.dtype if weight is None else weight.dtype
    return (
        sums[0].to(mean.dtype) if input_g else None,
        sums[1].to(mean.dtype) if input_g else None,
        (sums[1] * invstd).to(parameter) if weight_g else None,
        sums[0].to(parameter) if bias_g else None,
    )


@kernel(
    "aten.batch_norm_backward_reduce.default",
    source=_SOURCE,
    accuracy="rounding of f32 sums over all but the channels",
    expected=_reduce_expected,
)
def batch_norm_backward_reduce(
    grad_out: torch.Tensor,
    input: torch.Tensor,
    mean: torch.Tensor,
    invstd: torch.Tensor,
    weight: torch.Tensor | None,
    input_g: bool,
    weight_g: bool,
    bias_g: bool,
) -> Found:
    """Return the sums over one process that gradients are made of, (C) each.

    They are the sum of ``grad_out`` (N, C, ...), that of its product with ``input`` - ``mean``, and
    from these the gradients of ``weight`` and of the bias; None for what is not asked for.
    """
    dims = [dim for dim in range(input.dim()) if dim != 1]
    gradient = _wide(grad_out)
    total = gradient.sum(dims)
    moment = (gradient * (_wide(input) - per_channel(mean, input))).sum(dims)
    parameter = mean.dtype if weight is None else weight.dtype
    return (
        total if input_g else None,
        moment if input_g else None,
        (moment * invstd).to(parameter) if weight_g else None,
        total.to(parameter) if bias_g else None,
    )


@torch.no_grad()
def _elemt_expected(
    grad_out: torch.Tensor,
    input: torch.Tensor,
    mean: torch.Tensor,
    invstd: torch.Tensor,
    weight: torch.Tensor | None,
    sum_dy: torch.Tensor,
    sum_dy_xmu: torch.Tensor,
    count: torch.Tensor,
) -> torch.Tensor:
    total = count.sum().double()
    gradient, x = grad_out.double(), input.double()
    normal = (x - per_channel(mean.double(), x)) * per_channel(invstd.double(), x)
    slope = sum_dy_xmu.double() * invstd.double() / total
    inner = gradient - per_channel(sum_dy.double() / total, x) - normal * per_channel(slope, x)
    scale = invstd.double() if weight is None else invstd.double() * weight.double()
    return (inner * per_channel(scale, x)).to(input.dtype)


@kernel(
    "aten.batch_norm_backward_elemt.default",
    source=_SOURCE,
    accuracy="rounding of the difference of three terms",
    expected=_elemt_expected,
)
def batch_norm_backward_elemt(
    grad_out: torch.Tensor,
    input: torch.Tensor,
    mean: torch.Tensor,
    invstd: torch.Tensor,
    weight: torch.Tensor | None,
    sum_dy: torch.Tensor,
    sum_dy_xmu: torch.Tensor,
    count: torch.Tensor,
) -> torch.Tensor:
    """Return the gradient of ``input`` (N, C, ...) from sums (C) over all processes.

    ``count`` holds how many elements a channel has in each process.
    """
    total = count.sum().to(mean.dtype)
    slope = sum_dy_xmu / total * invstd.square()
    centered = _wide(input) - per_channel(mean, input)
    inner = (
        _wide(grad_out) - per_channel(sum_dy / total, input) - centered * per_channel(slope, input)
    )
    scale = invstd if weight is None else invstd * _wide(weight)
    return (inner * per_channel(scale, input)).to(input.dtype)
