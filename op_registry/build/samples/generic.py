"""Makes samples from a schema alone: small tensors of several ranks and dtypes, ones and zeros."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

import torch

from op_registry.build.samples.sample import Sample, seed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SHAPES = ((3, 3), (2, 3), (4,), (), (1, 2, 4, 4), (2, 4, 4), (1, 2, 4, 4, 4))
DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64)
_INDICES = frozenset(
    {"index", "indices", "target", "offsets", "lengths", "crow_indices", "batch_sizes"}
)
_INTEGERS = {
    "dim": 0,
    "dim0": 0,
    "dim1": 1,
    "dim2": 1,
    "start_dim": 0,
    "end_dim": 0,
    "start": 0,
    "quant_max": 127,
}
_SPATIAL = frozenset({"padding", "output_padding"})
_WORDS = {
    "mode": "constant",
    "reduce": "sum",
    "rounding_mode": "floor",
    "UPLO": "L",
    "ord": "fro",
    "indexing": "ij",
    "side": "left",
    "approximate": "none",
    "equation": "...i,...i->...",
    "device_type": "cpu",
}
_PLAIN: dict[str, Any] = {
    "float": 0.5,
    "number": 1,
    "bool": False,
    "complex": 1j,
    "ScalarType": torch.float32,
    "Layout": torch.strided,
    "MemoryFormat": torch.contiguous_format,
    "Device": torch.device("cpu"),
    "Generator": None,
}


class _NoValueError(Exception):
    """No value of this type can be made up."""


def samples(func: Any, dtypes: Sequence[torch.dtype] = DTYPES) -> Iterator[Sample]:
    """Yield calls of ``func`` with made-up arguments; most of them may not make sense."""
    for dtype, shape in itertools.product(dtypes, _SHAPES):
        try:
            yield _sample(func._schema, shape, dtype)
        except _NoValueError:
            return


def _sample(schema: Any, shape: tuple[int, ...], dtype: torch.dtype) -> Sample:
    seed()
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for argument in schema.arguments:
        if argument.has_default_value() and not argument.is_out:
            value = argument.default_value
        else:
            value = _value(str(argument.real_type), argument, shape, dtype)
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    return Sample(args=tuple(args), kwargs=kwargs)


def _value(kind: str, argument: Any, shape: tuple[int, ...], dtype: torch.dtype) -> Any:
    if optional := re.fullmatch(r"Optional\[(.*)\]", kind):
        return (
            None if argument.name not in _INDICES else _value(optional[1], argument, shape, dtype)
        )
    if listed := re.fullmatch(r"List\[(.*)\]", kind):
        return _list(listed[1], argument, shape, dtype)
    if kind == "Tensor":
        return _tensor(argument.name, shape, dtype)
    if kind in {"int", "SymInt"}:
        return _INTEGERS.get(argument.name, 1)
    if kind == "str" and argument.name in _WORDS:
        return _WORDS[argument.name]
    if kind in _PLAIN:
        return _PLAIN[kind]
    raise _NoValueError(kind)


def _list(kind: str, argument: Any, shape: tuple[int, ...], dtype: torch.dtype) -> list[Any]:
    if kind in {"int", "SymInt"}:
        return _integers(argument, shape)
    if kind.endswith("Tensor]"):
        return [torch.zeros(1, dtype=torch.int64)]
    return [_value(kind, argument, shape, dtype)] * (argument.N or 2)


def _integers(argument: Any, shape: tuple[int, ...]) -> list[int]:
    if argument.name in {"size", "sizes", "output_size", "input_sizes"}:
        return list(shape)
    if argument.name in {"dim", "dims"}:
        return [0]
    if argument.name == "normalized_shape":
        return list(shape[-1:])
    return [0 if argument.name in _SPATIAL else 1] * (argument.N or len(shape))


def _tensor(name: str, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    if name in _INDICES:
        return torch.zeros(shape[:1], dtype=torch.int64)
    if name in {"mask", "condition"}:
        return torch.ones(shape, dtype=torch.bool)
    if dtype.is_floating_point or dtype.is_complex:
        return torch.rand(shape, dtype=dtype)
    return torch.ones(shape, dtype=dtype)
