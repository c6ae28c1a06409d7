"""Torch's own test inputs, as calls to make: of its functions and of its modules."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest import mock

import torch
from torch.testing._internal import common_methods_invocations as functions
from torch.testing._internal import common_utils
from torch.testing._internal.common_modules import module_db
from torch.testing._internal.opinfo import core

from op_registry.build.samples.sample import seed
from op_registry.build.samples.tolerance import tolerance

Call = Callable[[], Any]
Calls = Iterator[Call]

_MOST_INPUTS = 20
"""Taken of one entry of a list."""
_MOST_LISTED = 4
"""Elements kept of a list of tensors."""
FIRST_THAT_FITS = (torch.float32, torch.int64, torch.bool, torch.complex64)
_LISTS = (
    "op_db",
    "foreach_unary_op_db",
    "foreach_binary_op_db",
    "foreach_pointwise_op_db",
    "foreach_reduce_op_db",
    "foreach_other_op_db",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """The calls of one function or module."""

    forward: Calls
    backward: Calls
    """Calls whose result is to be differentiated."""
    tolerance: tuple[float, float] | None = None
    """As in ``Sample``."""


def function_calls(dtypes: Sequence[torch.dtype] = FIRST_THAT_FITS) -> Iterator[Source]:
    """Yield each function's calls, at the first of ``dtypes`` that it takes on the CPU."""
    for info in itertools.chain.from_iterable(getattr(functions, name) for name in _LISTS):
        dtype = next((d for d in dtypes if d in info.dtypes), None)
        if dtype is None:
            continue
        trains = info.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
        yield Source(
            forward=_function(info, dtype, requires_grad=False),
            backward=_function(info, dtype, requires_grad=True) if trains else iter(()),
            tolerance=tolerance(info, dtype),
        )


def module_calls(dtype: torch.dtype = torch.float32) -> Iterator[Source]:
    """Yield the same for the modules of ``torch.nn``, in evaluation and in training mode."""
    for info in module_db:
        yield Source(
            forward=_module(info, dtype, training=False),
            backward=_module(info, dtype, training=True),
        )


def _function(info: Any, dtype: torch.dtype, *, requires_grad: bool) -> Calls:
    seed()
    with _tolerant():
        inputs = info.sample_inputs("cpu", dtype, requires_grad=requires_grad)
        for given in itertools.islice(inputs, _MOST_INPUTS):
            args, kwargs = shortened((given.input, *given.args), given.kwargs)
            yield partial(info, *args, **kwargs)


def shortened(
    args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return a call whose lists as long as its first argument keep a few elements, ends included.

    The twentieth tensor of a list shows nothing new, and the compiler takes its time for each.
    """
    length = len(args[0]) if isinstance(args[0], list | tuple) else 0
    if length <= _MOST_LISTED:
        return args, dict(kwargs)

    def cut(value: Any) -> Any:
        listed = isinstance(value, list | tuple)
        listed |= isinstance(value, torch.Tensor) and value.dim() == 1  # one scalar a tensor
        if not listed or len(value) != length:
            return value
        places = [*range(_MOST_LISTED - 1), length - 1]
        if isinstance(value, torch.Tensor):
            return value[places]
        return type(value)([value[place] for place in places])

    return tuple(map(cut, args)), {name: cut(value) for name, value in kwargs.items()}


def _module(info: Any, dtype: torch.dtype, *, training: bool) -> Calls:
    seed()
    with _tolerant():
        inputs = info.module_inputs_func(
            info, device="cpu", dtype=dtype, requires_grad=training, training=training
        )
        for given in inputs[:_MOST_INPUTS]:
            module = info.module_cls(
                *given.constructor_input.args, **given.constructor_input.kwargs
            )
            forward = given.forward_input
            if forward is not None:
                module.to(dtype).train(training)
                yield partial(module, *forward.args, **forward.kwargs)


@contextlib.contextmanager
def _tolerant() -> Iterator[None]:
    """Let an entry that cannot make its inputs here (a library is missing) give none.

    For each input torch's tests look for the running test in the stack, and seed all devices: that
    would take a minute altogether.
    """
    with (
        contextlib.suppress(Exception),
        warnings.catch_warnings(),
        mock.patch.object(torch, "manual_seed", torch.default_generator.manual_seed),
        mock.patch.object(common_utils, "extract_test_fn", return_value=None),
        mock.patch.object(core, "extract_test_fn", return_value=None),
    ):
        warnings.simplefilter("ignore")
        yield
