"""Jacobi's method for small real symmetric matrices: rotations that annul pairs of elements.

In one round the rows i and n - 1 - i are a pair, for all i at once; after it the rows move on by
one place around the first, so that n - 1 rounds (a sweep) meet every pair. All is elementwise, so
on a TPU it is full float32, which matrix products are not by default.
"""

from __future__ import annotations

import torch
from torch.nn.functional import pad

_SWEEPS = {torch.float32: 8, torch.float64: 10}
"""In the end each squares what is left off the diagonal."""


def eigh(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return eigenvalues (..., n) and eigenvectors (..., n, n), in no order, of ``matrix``.

    (..., n, n), real and symmetric, n > 0. A round takes some 75 StableHLO ops.
    """
    n = matrix.shape[-1]
    scale = matrix.abs().amax((-2, -1), keepdim=True)
    scale = torch.where(scale > 0, scale, 1)
    matrix = pad(matrix / scale, (0, n % 2, 0, n % 2))
    size = matrix.shape[-1]
    rows = torch.eye(size, dtype=matrix.dtype, device=matrix.device).expand(matrix.shape)
    for _ in range(_SWEEPS[matrix.dtype] * (size - 1)):
        cosine, sine = _rotations(matrix)
        matrix = cosine * matrix - sine * matrix.flip(-2)
        matrix = cosine.mT * matrix - sine.mT * matrix.flip(-1)
        rows = cosine * rows - sine * rows.flip(-2)
        matrix, rows = _moved_on(_moved_on(matrix, -1), -2), _moved_on(rows, -2)
    values = matrix.diagonal(dim1=-2, dim2=-1)[..., :n] * scale[..., 0]
    return values, rows[..., :n, :n].mT


def _rotations(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return cosines and sines (..., n, 1) that annul the elements between the rows of a pair."""
    own = matrix.diagonal(dim1=-2, dim2=-1)
    across = matrix.flip(-1).diagonal(dim1=-2, dim2=-1)
    # Rounding leaves the two elements of a pair unequal; their rotations have to be the same.
    between = across + across.flip(-1)
    gap = own.flip(-1) - own
    upper = torch.arange(own.shape[-1], device=own.device) < own.shape[-1] // 2
    positive = torch.where(gap == 0, upper, gap > 0)
    length = gap.abs() + (gap * gap + between * between).sqrt()
    tangent = between / torch.where(length == 0, 1, length)
    tangent = torch.where(positive, tangent, -tangent)
    cosine = (1 + tangent * tangent).rsqrt()
    return cosine.unsqueeze(-1), (tangent * cosine).unsqueeze(-1)


def _moved_on(matrix: torch.Tensor, dim: int) -> torch.Tensor:
    size = matrix.shape[dim]
    parts = (
        matrix.narrow(dim, 0, 1),
        matrix.narrow(dim, size - 1, 1),
        matrix.narrow(dim, 1, size - 2),
    )
    return torch.cat(parts, dim)
