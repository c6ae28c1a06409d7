"""How eager PyTorch computes element by element, and the formulas that many kernels evaluate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_HALF = (torch.bfloat16, torch.float16)


def computed_in(dtype: torch.dtype) -> torch.dtype:
    """Return the dtype that eager computes ``dtype`` in: float32 for the 16-bit types."""
    return torch.float32 if dtype in _HALF else dtype


def float_type(*operands: Any) -> torch.dtype:
    """Return the dtype of a floating-point result of ``operands``: the default one for integers."""
    dtype = result_type(*operands)
    whole = not (dtype.is_floating_point or dtype.is_complex)
    return torch.get_default_dtype() if whole else dtype


def result_type(*operands: Any) -> torch.dtype:
    """Return what one, two or three tensors or numbers promote to."""
    first, *rest = operands
    if not rest:
        return first.dtype if isinstance(first, torch.Tensor) else torch.result_type(first, first)
    dtype = torch.result_type(first, rest[0])
    for operand in rest[1:]:
        dtype = torch.promote_types(dtype, torch.result_type(first, operand))
    return dtype


def floats(function: Callable[..., torch.Tensor], *operands: Any) -> torch.Tensor:
    """Return ``function`` of ``operands`` as eager's floating-point ops evaluate it.

    Operands are tensors or numbers; they are promoted, integers to the default dtype. The 16-bit
    types are computed in float32 and the result rounded once.
    """
    dtype = float_type(*operands)
    device = next(x.device for x in operands if isinstance(x, torch.Tensor))
    wide = computed_in(dtype)
    tensors = (
        x.to(wide) if isinstance(x, torch.Tensor) else torch.full((), x, dtype=wide, device=device)
        for x in operands
    )
    return function(*tensors).to(dtype)


def horner(x: torch.Tensor, coefficients: Sequence[float]) -> torch.Tensor:
    """Return the polynomial of ``x`` with ``coefficients``, the highest power first."""
    total = torch.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        total = total * x + coefficient
    return total


def ratio(
    x: torch.Tensor, numerator: Sequence[float], denominator: Sequence[float]
) -> torch.Tensor:
    """Return the quotient of two polynomials of ``x``, the highest powers first."""
    return horner(x, numerator) / horner(x, denominator)


def chebyshev(x: torch.Tensor, coefficients: Sequence[float]) -> torch.Tensor:
    """Return half the Chebyshev series of ``x`` / 2, by Clenshaw's recurrence.

    ``coefficients`` come the highest order first, as Cephes (``chbevl``) has them.
    """
    last, total = torch.zeros_like(x), torch.full_like(x, coefficients[0])
    before = last
    for coefficient in coefficients[1:]:
        before, last, total = last, total, x * total - last + coefficient
    return 0.5 * (total - before)
