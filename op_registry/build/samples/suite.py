"""Torch's own test inputs, as calls to make: of its functions and of its modules."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.testing._internal import common_methods_invocations as functions
from torch.testing._internal.common_modules import module_db

from op_registry.build.samples.sample import seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Call = Callable[[], Any]
    Calls = Iterator[Call]

_MOST_INPUTS = 20
"""Taken of one entry of a list."""
_DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64)
_LISTS = (
    "op_db",
    "foreach_unary_op_db",
    "foreach_binary_op_db",
    "foreach_pointwise_op_db",
    "foreach_reduce_op_db",
    "foreach_other_op_db",
)


def function_calls() -> Iterator[tuple[Calls, Calls]]:
    """Yield, function by function, the calls to run forward, and those to differentiate."""
    for info in itertools.chain.from_iterable(getattr(functions, name) for name in _LISTS):
        backward = _function(info, requires_grad=True) if info.supports_autograd else iter(())
        yield _function(info, requires_grad=False), backward


def module_calls() -> Iterator[tuple[Calls, Calls]]:
    """Yield the same for the modules of ``torch.nn``, in evaluation and in training mode."""
    for info in module_db:
        yield _module(info, training=False), _module(info, training=True)


def _function(info: Any, *, requires_grad: bool) -> Calls:
    dtype = next((d for d in _DTYPES if d in info.dtypes), None)
    if dtype is None:
        return
    seed()
    with _tolerant():
        inputs = info.sample_inputs("cpu", dtype, requires_grad=requires_grad)
        for given in itertools.islice(inputs, _MOST_INPUTS):
            yield partial(info, given.input, *given.args, **given.kwargs)


def _module(info: Any, *, training: bool) -> Calls:
    seed()
    with _tolerant():
        inputs = info.module_inputs_func(
            info, device="cpu", dtype=torch.float32, requires_grad=training, training=training
        )
        for given in inputs[:_MOST_INPUTS]:
            module = info.module_cls(
                *given.constructor_input.args, **given.constructor_input.kwargs
            )
            forward = given.forward_input
            if forward is not None:
                module.train(training)
                yield partial(module, *forward.args, **forward.kwargs)


@contextlib.contextmanager
def _tolerant() -> Iterator[None]:
    """Let an entry that cannot make its inputs here (a library is missing) give none."""
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
