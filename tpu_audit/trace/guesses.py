"""What a data-dependent op is answered when its input depends on weights.

Each guess keeps the model running on the path that does most: everything selected, nothing
equal to zero. Guesses are counted and reported, never hidden.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily

from tpu_audit.trace import shadow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Tensor = torch.Tensor
_INDICES = 1 << 16
"""Most elements whose indices are written out."""


_truth: list[Callable[[], bool]] = []


@contextlib.contextmanager
def answering(truth: Callable[[], bool]) -> Iterator[None]:
    """Ask ``truth``, for a while, for the value of a boolean that is not known."""
    _truth.append(truth)
    try:
        yield
    finally:
        _truth.pop()


class Others:
    """Counts the answers that were given otherwise."""

    given = 0

    def number(self, usual: int) -> int:
        """Return another number than the usual one: of what is counted, half."""
        self.given += 1
        return usual // 2 if usual > 1 else usual + 1


_others: list[Others] = []


@contextlib.contextmanager
def answering_otherwise() -> Iterator[Others]:
    """Give other numbers for a while, as other weights or data would: values, counts of rows."""
    _others.append(Others())
    try:
        yield _others[-1]
    finally:
        _others.pop()


def _number(usual: int) -> int:
    return _others[-1].number(usual) if _others else usual


def _scalar(x: Tensor, *_: Any, **__: Any) -> bool | int | float | complex:
    if x.dtype is torch.bool:
        return _truth[-1]() if _truth else True
    if x.dtype.is_complex:
        return complex(1)
    number = _number(1)
    return float(number) if x.dtype.is_floating_point else number


def _true(*_: Any, **__: Any) -> bool:
    return True


def _indices(x: Tensor, *_: Any, **__: Any) -> Tensor:
    """Select everything: the indices themselves are then known, as far as there are so many.

    Nothing, where booleans are answered no.
    """
    ended = x.dtype is torch.bool and _truth and not _truth[-1]()
    count = 0 if ended else _number(x.numel())
    found = x.new_empty((count, x.dim()), dtype=torch.long)
    if 0 < count <= x.numel() <= _INDICES:
        with unset_fake_temporarily():
            every = torch.ones(x.shape, dtype=torch.bool).nonzero()[:count]
        shadow.attach(found, every)
    return found


def _selected(x: Tensor, *_: Any, **__: Any) -> Tensor:
    return x.new_empty((_number(x.numel()),))


def _unique(x: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor, Tensor]:
    count = _number(x.numel())
    index = x.new_empty(x.shape, dtype=torch.long)
    return x.new_empty((count,)), index, x.new_empty((count,), dtype=torch.long)


def _unique_dim(x: Tensor, dim: int, *_: Any, **__: Any) -> tuple[Tensor, Tensor, Tensor]:
    index = x.new_empty((x.shape[dim],), dtype=torch.long)
    return x.new_empty(x.shape), index, x.new_empty(index.shape, dtype=torch.long)


def _repeated(x: Tensor, *_: Any, **__: Any) -> Tensor:
    return x.new_empty((x.numel(),), dtype=torch.long)


def _bins(_x: Tensor, _weights: Any = None, minlength: int = 0, **__: Any) -> Tensor:
    return _x.new_empty((max(1, minlength),), dtype=torch.long)


def _kept_boxes(boxes: Tensor, *_: Any, **__: Any) -> Tensor:
    return boxes.new_empty((boxes.shape[0],), dtype=torch.long)


def _ctc_loss(x: Tensor, targets: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
    time, batch = x.shape[0], x.shape[1]
    return x.new_empty((batch,)), x.new_empty((batch, time, 2 * targets.shape[-1] + 1))


UNTAGGED = frozenset({"torchvision::nms"})
"""Ops whose output depends on data, although their library does not tag them so."""

_ANSWERS: dict[str, Callable[..., Any]] = {
    "aten::_local_scalar_dense": _scalar,
    "aten::item": _scalar,
    "aten::equal": _true,
    "aten::allclose": _true,
    "aten::is_nonzero": _true,
    "aten::nonzero": _indices,
    "aten::masked_select": _selected,
    "aten::_unique": _unique,
    "aten::_unique2": _unique,
    "aten::unique_consecutive": _unique,
    "aten::unique_dim": _unique_dim,
    "aten::repeat_interleave": _repeated,
    "aten::bincount": _bins,
    "aten::_ctc_loss": _ctc_loss,
    "torchvision::nms": _kept_boxes,
}


def guess(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bool, Any]:
    """Answer a data-dependent call; (answered, result). Unlisted ops are left to fail."""
    answer = _ANSWERS.get(func._schema.name)
    return (False, None) if answer is None else (True, answer(*args, **kwargs))


def spread(sizes: Any, total: int) -> list[int] | None:
    """Return other sizes that fill ``total``, where these are the guess of a 1 each; else None.

    Mixtures of experts split tokens by how many each expert got: that takes weights to know.
    """
    guessed = len(sizes) > 1 and all(size == 1 for size in sizes)
    if not guessed or len(sizes) == total:
        return None
    each, rest = divmod(total, len(sizes))
    return [each + (i < rest) for i in range(len(sizes))]


def selected_by(mask: Tensor, values: Tensor | None) -> list[Tensor]:
    """Index tensors for a boolean mask of unknown content, as many as ``values`` has rows."""
    count = _number(mask.numel())
    if values is not None and values.dim() > 0:
        count = values.shape[0]
    return [mask.new_empty((count,), dtype=torch.long) for _ in range(mask.dim())]
