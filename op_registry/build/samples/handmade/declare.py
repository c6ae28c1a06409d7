"""How hand-made samples are declared, and how those of an op are asked for."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from op_registry.build.samples.sample import Sample, seed

if TYPE_CHECKING:
    from collections.abc import Sequence

Maker = Callable[[torch.dtype], Iterator[Sample]]
_MAKERS: dict[str, Maker] = {}


def handmade(*ops: str) -> Callable[[Maker], Maker]:
    """Declare the decorated function the maker of samples for ``ops``.

    It takes a dtype and yields calls at it, or nothing where the op makes no sense with it.
    """

    def declare(maker: Maker) -> Maker:
        _MAKERS.update(dict.fromkeys(ops, maker))
        return maker

    return declare


def call(*args: Any, **kwargs: Any) -> Sample:
    """Return the sample with these arguments."""
    return Sample(args=args, kwargs=kwargs)


def into(samples: Iterator[Sample], **dtypes: torch.dtype) -> Iterator[Sample]:
    """Yield ``samples`` with empty ``out=`` tensors of these dtypes, for ops no CPU has."""
    for sample in samples:
        outs = {name: torch.empty(0, dtype=dtype) for name, dtype in dtypes.items()}
        yield replace(sample, kwargs=sample.kwargs | outs)


def handmade_samples(op: str, dtype: torch.dtype) -> Sequence[Sample]:
    """Return the hand-made samples of ``op`` at ``dtype``, the same in every run; maybe none."""
    maker = makers().get(op)
    if maker is None:
        return ()
    seed()
    return tuple(maker(dtype))


def makers() -> dict[str, Maker]:
    """Return the makers by op."""
    package = importlib.import_module("op_registry.build.samples.handmade")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return _MAKERS
