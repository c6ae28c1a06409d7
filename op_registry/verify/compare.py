"""Tells whether a kernel's results are eager PyTorch's, as far as rounding lets one tell.

Integers and booleans have to be equal. Floating point and complex results may differ by the
tolerance that torch's own tests give the op, or, where the same call was made in double precision,
may be no further from that than a few times eager PyTorch is itself: another order of accumulation
is no error. NaN and infinity have to stand in the same places.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import torch

from op_registry.evidence import Cause

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

TIMES_EAGER = 4.0
"""How many times eager PyTorch's largest error a result may be off."""
ROUNDINGS = 2.0
"""Units of relative rounding (``torch.finfo.eps``) that are granted on top."""
_TOLERANCES = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex32: (1e-3, 1e-5),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
"""Relative and absolute tolerance of ``torch.testing.assert_close``, by dtype."""


class Kind(StrEnum):
    """In what a result differs."""

    COUNT = "count"
    """Another number of results."""
    SHAPE = "shape"
    DTYPE = "dtype"
    NAN = "nan"
    """NaN where eager PyTorch has a number, or the other way round."""
    OVERFLOW = "overflow"
    """Infinity, or an integer out of all proportion, where eager PyTorch has another number."""
    ROUNDING = "rounding"
    """Whole numbers that are off by one."""
    VALUES = "values"


CAUSES = {Kind.COUNT: Cause.SHAPE, Kind.SHAPE: Cause.SHAPE, Kind.DTYPE: Cause.DTYPE}
"""Under which cause the evidence files a kind; all others are values."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """The first result that is not eager PyTorch's."""

    kind: Kind
    message: str
    """What, where and by how much: the largest error, its index, both numbers."""

    @property
    def cause(self) -> Cause:
        """Return the cause under which the evidence files it."""
        return CAUSES.get(self.kind, Cause.VALUES)


def compare(
    answers: Sequence[torch.Tensor],
    eager: Sequence[torch.Tensor],
    reference: Sequence[torch.Tensor] | None = None,
    *,
    tolerance: tuple[float, float] | None = None,
    undefined: Collection[int] = (),
    computed: torch.dtype | None = None,
) -> Difference | None:
    """Return how ``answers`` differ from ``eager``, None when they agree.

    ``reference`` holds the results of the same call on inputs of a more precise dtype.
    ``tolerance`` is relative and absolute; torch.testing's of the dtype when None. ``undefined``
    are places of results that hold uninitialised memory, like those of ``empty_like``. ``computed``
    is the dtype of the call's inputs: without a reference its rounding is granted to results of a
    more precise dtype.
    """
    if len(answers) != len(eager):
        words = f"{len(answers)} results, eager PyTorch returns {len(eager)}"
        return Difference(kind=Kind.COUNT, message=words)
    usable = reference if reference is not None and len(reference) == len(eager) else None
    for place, (answer, wanted) in enumerate(zip(answers, eager, strict=True)):
        exact = usable[place] if usable is not None else None
        found = _outside(answer, wanted)
        if found is None and place not in undefined:
            found = _inside(
                answer, wanted, exact, tolerance or _usual(wanted.dtype, computed, exact)
            )
        if found is not None:
            return Difference(kind=found.kind, message=f"result {place}: {found.message}")
    return None


def _usual(
    dtype: torch.dtype, computed: torch.dtype | None, exact: torch.Tensor | None
) -> tuple[float, float]:
    given = [_TOLERANCES.get(dtype, (0.0, 0.0))]
    if exact is None and computed in _TOLERANCES:
        given.append(_TOLERANCES[computed])
    return max(given)


def _outside(answer: torch.Tensor, eager: torch.Tensor) -> Difference | None:
    if answer.shape != eager.shape:
        words = f"shape {list(answer.shape)}, eager PyTorch's is {list(eager.shape)}"
        return Difference(kind=Kind.SHAPE, message=words)
    if answer.dtype != eager.dtype:
        words = f"dtype {_name(answer.dtype)}, eager PyTorch's is {_name(eager.dtype)}"
        return Difference(kind=Kind.DTYPE, message=words)
    return None


def _inside(
    answer: torch.Tensor,
    eager: torch.Tensor,
    exact: torch.Tensor | None,
    tolerance: tuple[float, float],
) -> Difference | None:
    if not (eager.is_floating_point() or eager.is_complex()):
        return _integers(answer, eager)
    wide = torch.complex128 if eager.is_complex() else torch.float64
    given = exact.to(wide) if exact is not None and _more_precise(exact, eager) else None
    numbers = _Numbers(answer=answer.to(wide), eager=eager.to(wide), exact=given)
    return _special(numbers, eager.dtype) or _finite(numbers, eager.dtype, tolerance)


def _more_precise(exact: torch.Tensor, eager: torch.Tensor) -> bool:
    if exact.shape != eager.shape or exact.is_complex() != eager.is_complex():
        return False
    if not (exact.is_floating_point() or exact.is_complex()):
        return False
    return torch.finfo(exact.dtype).eps < torch.finfo(eager.dtype).eps


def _integers(answer: torch.Tensor, eager: torch.Tensor) -> Difference | None:
    wrong = answer != eager
    if not wrong.any():
        return None
    error = (answer.double() - eager.double()).abs()
    worst = float(error[wrong].max())
    kind = Kind.ROUNDING if worst == 1 and eager.dtype is not torch.bool else Kind.VALUES
    if worst >= _FAR:
        kind = Kind.OVERFLOW
    return Difference(kind=kind, message=_told(wrong, error, answer, eager))


_FAR = 2.0**31
"""Integers that differ by so much were not computed but wrapped or cut off."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Numbers:
    """One result in double precision: the kernel's, eager PyTorch's, and the exact one if known."""

    answer: torch.Tensor
    eager: torch.Tensor
    exact: torch.Tensor | None


def _special(numbers: _Numbers, dtype: torch.dtype) -> Difference | None:
    """Compare the places of NaN and infinity; eager's own overflow need not be repeated."""
    kinds = _kinds(numbers.answer)
    wrong = kinds != _kinds(numbers.eager)
    if numbers.exact is not None:
        wrong &= kinds != _kinds(numbers.exact.to(dtype).to(numbers.exact.dtype))
    if not wrong.any():
        return None
    nan = (numbers.answer.isnan() != numbers.eager.isnan()) & wrong
    kind, where = (Kind.NAN, nan) if nan.any() else (Kind.OVERFLOW, wrong)
    return Difference(kind=kind, message=_told(where, where, numbers.answer, numbers.eager))


def _kinds(numbers: torch.Tensor) -> torch.Tensor:
    """Return 0 for a finite number, 1 and -1 for the infinities, 2 for NaN.

    Complex numbers are finite or not: which part is NaN beside an infinite one is left open.
    """
    if numbers.is_complex():
        return (~numbers.isfinite()).to(torch.int8)
    signs = numbers.isposinf().to(torch.int8) - numbers.isneginf().to(torch.int8)
    return signs + 2 * numbers.isnan().to(torch.int8)


def _finite(
    numbers: _Numbers, dtype: torch.dtype, tolerance: tuple[float, float]
) -> Difference | None:
    rtol, atol = tolerance
    answer, eager = numbers.answer, numbers.eager
    error = (answer - eager).abs()
    near = eager.isfinite() & (error <= atol + rtol * eager.abs())
    wrong = answer.isfinite() & ~near
    if numbers.exact is not None:
        wrong &= ~_as_good_as_eager(numbers, dtype)
    if not wrong.any():
        return None
    whole = _off_by_one(answer[wrong], eager[wrong])
    kind = Kind.ROUNDING if whole else Kind.VALUES
    return Difference(kind=kind, message=_told(wrong, error, answer, eager))


def _as_good_as_eager(numbers: _Numbers, dtype: torch.dtype) -> torch.Tensor:
    """Tell where the result is as near to the exact one as eager PyTorch's results are."""
    exact = numbers.exact
    assert exact is not None  # noqa: S101 - the caller looked
    off = (numbers.eager - exact).abs()
    known = off[off.isfinite()]
    most = float(known.max()) if known.numel() else 0.0
    info = torch.finfo(dtype)
    allowed = TIMES_EAGER * most + ROUNDINGS * info.eps * exact.abs() + info.smallest_normal
    return (numbers.answer - exact).abs() <= allowed


def _off_by_one(answer: torch.Tensor, eager: torch.Tensor) -> bool:
    if answer.is_complex():
        return False
    whole = (answer == answer.round()) & (eager == eager.round())
    return bool((whole & ((answer - eager).abs() == 1)).all())


def _told(
    wrong: torch.Tensor, error: torch.Tensor, answer: torch.Tensor, eager: torch.Tensor
) -> str:
    """Say how many places are wrong and show the worst of them."""
    size = torch.where(wrong, error.double().nan_to_num(posinf=1e308), -1.0)
    place = int(size.argmax())
    index = [int(i) for i in torch.unravel_index(torch.tensor(place), wrong.shape)]
    got, wanted = answer.reshape(-1)[place].item(), eager.reshape(-1)[place].item()
    where = f"at {index}: {_number(got)}, eager PyTorch {_number(wanted)}"
    return f"{int(wrong.sum())} of {wrong.numel()} differ, most {where}"


def _number(value: Any) -> str:
    return str(value) if isinstance(value, bool | int) else f"{value:.6g}"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
