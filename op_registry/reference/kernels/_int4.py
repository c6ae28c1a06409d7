"""Matrices of 4-bit numbers: taken out of their packed form, and multiplied.

Every packed form here is a rearrangement of (n, k) numbers from 0 to 15. They stand for
(number - 8) * scale + zero, with a scale and a zero for each group of columns.
"""

from __future__ import annotations

import torch

GROUPS = (32, 64, 128, 256)
"""Columns that may share a scale."""


def nibbles(packed: torch.Tensor, count: int) -> torch.Tensor:
    """Return (..., ``count``), the numbers in each element of ``packed``, lowest bits first."""
    shifts = torch.arange(0, 4 * count, 4, dtype=packed.dtype, device=packed.device)
    return (packed.unsqueeze(-1) >> shifts) & 15


def product(
    left: torch.Tensor, numbers: torch.Tensor, group: int, parameters: torch.Tensor
) -> torch.Tensor:
    """Return ``left`` (m, k) times the transpose of what ``numbers`` (n, k) stand for, as f32.

    ``parameters`` (k / group, n, 2) hold scales and zeros.
    """
    return left.float() @ dequantised(numbers, group, parameters).t()


def dequantised(numbers: torch.Tensor, group: int, parameters: torch.Tensor) -> torch.Tensor:
    """Return the f32 (n, k) that ``numbers`` stand for."""
    rows, columns = numbers.shape
    scale, zero = parameters.float().permute(1, 0, 2).unsqueeze(2).unbind(-1)
    groups = (numbers.float() - 8).reshape(rows, columns // group, group)
    return (groups * scale + zero).reshape(rows, columns)


def check_product(
    name: str, left: torch.Tensor, shape: tuple[int, int], group: int, parameters: torch.Tensor
) -> None:
    """Raise eager's RuntimeError unless the arguments of a product with (n, k) numbers fit."""
    rows, columns = shape
    if left.dim() != 2 or left.shape[1] != columns:
        raise RuntimeError(
            f"{name} : expect A to be a matrix of {columns} columns, got {list(left.shape)}"
        )
    if group not in GROUPS or columns % group:
        raise RuntimeError(
            f"{name}: expect qGroupSize to be one of {GROUPS} that divides {columns}, got {group}"
        )
    if list(parameters.shape) != [columns // group, rows, 2]:
        raise RuntimeError(
            f"{name}: expect qScaleAndZeros to be {[columns // group, rows, 2]}, got "
            f"{list(parameters.shape)}"
        )
