"""Sizes of the tensors that calls saw."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tpu_audit.types.trace import TensorRef

_BITS = re.compile(r"(?:b?float|u?int|complex|bits|quint|qint|mxfp)(\d+)")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def numel(tensor: TensorRef) -> int:
    """Return the number of elements."""
    return prod(tensor.shape)


def nbytes(tensor: TensorRef) -> int:
    """Return the size in bytes by dtype and shape, sub-byte dtypes packed and rounded up."""
    match = _BITS.match(tensor.dtype)
    bits = int(match[1]) if match else 8
    return -(-numel(tensor) * bits // 8)


def total(tensors: Iterable[TensorRef]) -> int:
    """Return the bytes of all ``tensors``."""
    return sum(map(nbytes, tensors))


def human(count: float) -> str:
    """Return a byte count for people: ``12.6 MiB``."""
    unit = 0
    while count >= 1024 and unit < len(_UNITS) - 1:  # noqa: PLR2004 (binary units)
        count /= 1024
        unit += 1
    return f"{count:.0f} {_UNITS[unit]}" if unit == 0 else f"{count:.1f} {_UNITS[unit]}"
