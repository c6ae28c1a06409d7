"""SyncBatchNorm's forward: statistics of one process, merged over all, applied.

Statistics are f32 for half-precision input. The channel is dimension 1.
"""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel

_SOURCE = "Chan et al., Updating Formulae (1979), as in torch's CUDA Normalization.cuh"
_ACCURACY = "rounding of f32 sums over all but the channels"
_UPDATED = "writes the running statistics, if given, into its arguments"


def _wide(x: torch.Tensor) -> torch.Tensor:
    return x if x.dtype == torch.float64 else x.float()


def moments(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return mean and variance of each channel of ``x`` (N, C, ...), (C) each, f32 at least.

    The variance is that of the elements, not an estimate: divided by their number.
    """
    x, others = _wide(x), [dim for dim in range(x.dim()) if dim != 1]
    mean = x.mean(others)
    return mean, (x - per_channel(mean, x)).square().mean(others)


def per_channel(values: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Return ``values`` (C) shaped to broadcast over ``x`` (N, C, ...)."""
    return values.reshape(1, -1, *[1] * (x.dim() - 2))


@torch.no_grad()
def _stats_expected(input: torch.Tensor, eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    x, training, momentum = _wide(input), True, 0.0
    return torch.native_batch_norm(x, None, None, None, None, training, momentum, eps)[1:]


@kernel(
    "aten.batch_norm_stats.default", source=_SOURCE, accuracy=_ACCURACY, expected=_stats_expected
)
def batch_norm_stats(input: torch.Tensor, eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Return mean and 1 / sqrt(variance + ``eps``) of each channel of ``input`` (N, C, ...).

    Both are (C); the variance is divided by the number of elements.
    """
    mean, variance = moments(input)
    return mean, (variance + eps).rsqrt()


@torch.no_grad()
def _elemt_expected(
    input: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    mean: torch.Tensor,
    invstd: torch.Tensor,
    eps: float,
) -> torch.Tensor:
    del eps
    x = input.double() - per_channel(mean.double(), input)
    if weight is not None:
        x = x * per_channel(weight.double(), input)
    x = x * per_channel(invstd.double(), input)
    return (x if bias is None else x + per_channel(bias.double(), input)).to(input.dtype)


@kernel(
    "aten.batch_norm_elemt.default",
    source=_SOURCE,
    accuracy="rounding of one product",
    expected=_elemt_expected,
)
def batch_norm_elemt(
    input: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    mean: torch.Tensor,
    invstd: torch.Tensor,
    eps: float,
) -> torch.Tensor:
    """Return (``input`` - ``mean``) * ``invstd`` * ``weight`` + ``bias``, shaped like ``input``.

    ``input`` is (N, C, ...), the others (C); ``eps`` is in ``invstd`` already.
    """
    del eps
    result = _wide(input) - per_channel(mean, input)
    if weight is not None:
        result = result * per_channel(_wide(weight), input)
    result = result * per_channel(invstd, input)
    if bias is not None:
        result = result + per_channel(_wide(bias), input)
    return result.to(input.dtype)


@torch.no_grad()
def _gather_expected(
    _input: torch.Tensor,
    mean: torch.Tensor,
    invstd: torch.Tensor,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    momentum: float,
    eps: float,
    counts: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    n, means = counts.double().unsqueeze(1), mean.double()
    total = n.sum()
    merged = (n * means).sum(0) / total
    squares = (n * (invstd.double() ** -2 - eps + means.square())).sum(0)
    variance = squares / total - merged.square()
    if running_mean is not None and running_var is not None:
        unbiased = variance * total / (total - 1)
        for running, now in ((running_mean, merged), (running_var, unbiased)):
            running.copy_((1 - momentum) * running + momentum * now)
    return merged.to(mean), (variance + eps).rsqrt().to(mean)


@kernel(
    "aten.batch_norm_gather_stats_with_counts.default",
    source=_SOURCE,
    accuracy=f"{_ACCURACY}; {_UPDATED}",
    expected=_gather_expected,
    changes=True,
)
def batch_norm_gather_stats_with_counts(
    input: torch.Tensor,
    mean: torch.Tensor,
    invstd: torch.Tensor,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    momentum: float,
    eps: float,
    counts: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return mean and 1 / sqrt(variance + ``eps``) over all processes, (C) each.

    ``mean`` and ``invstd`` (processes, C) are of each process' ``counts`` (processes) elements.
    ``running_mean`` and ``running_var`` (C) move towards them by ``momentum``, in place.
    """
    del input
    n = counts.to(mean.dtype).unsqueeze(1)
    total = n.sum()
    merged = (n * mean).sum(0) / total
    within = (n * (invstd.square().reciprocal() - eps)).sum(0)
    spread = within + (n * (mean - merged).square()).sum(0)
    if running_mean is not None:
        running_mean.copy_((1 - momentum) * running_mean + momentum * merged)
    if running_var is not None:
        running_var.copy_((1 - momentum) * running_var + momentum * spread / (total - 1))
    return merged, (spread / total + eps).rsqrt()


@torch.no_grad()
def _gather_same_expected(
    input: torch.Tensor,
    mean: torch.Tensor,
    invstd: torch.Tensor,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    momentum: float,
    eps: float,
    count: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    counts = torch.full(mean.shape[:1], float(count))
    running = (running_mean, running_var)
    return _gather_expected(input, mean, invstd, *running, momentum, eps, counts)


@kernel(
    "aten.batch_norm_gather_stats.default",
    source=_SOURCE,
    accuracy=f"{_ACCURACY}; {_UPDATED}",
    expected=_gather_same_expected,
    changes=True,
)
def batch_norm_gather_stats(
    input: torch.Tensor,
    mean: torch.Tensor,
    invstd: torch.Tensor,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    momentum: float,
    eps: float,
    count: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Do what ``batch_norm_gather_stats_with_counts`` does, with ``count`` for every process."""
    counts = torch.full_like(mean[:, 0], float(count))
    running = (running_mean, running_var)
    return batch_norm_gather_stats_with_counts(input, mean, invstd, *running, momentum, eps, counts)
