"""Torch's own test inputs, found by the op that they are for."""

from __future__ import annotations

import contextlib
import functools
import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from torch.testing._internal import common_methods_invocations as functions
from torch.testing._internal.common_modules import module_db

from op_registry.build.samples.sample import seed

if TYPE_CHECKING:
    import torch

Call: TypeAlias = Callable[[], Any]
_MOST_INPUTS = 60
"""Made of one entry at one dtype."""
_LISTS = (
    *("op_db", "foreach_unary_op_db", "foreach_binary_op_db", "foreach_pointwise_op_db"),
    *("foreach_reduce_op_db", "foreach_other_op_db"),
)
_PREFIXES = ("special_", "linalg_", "fft_", "nn_functional_", "ops_aten_", "nn_", "torch_")
_SUFFIXES = ("_backward_data", "_backward", "_forward", "_copy", "_ex", "_functional", "_for_cpu")


class FunctionEntry:
    """Inputs of one function."""

    def __init__(self, info: Any) -> None:
        self.name: str = info.name
        self._info = info

    def calls(self, dtype: torch.dtype, *, requires_grad: bool) -> Iterator[Call]:
        """Yield the calls at ``dtype``; to be differentiated with ``requires_grad``."""
        if dtype not in self._info.supported_dtypes("cpu"):
            return
        if requires_grad and not (
            self._info.supports_autograd and dtype in self._info.supported_backward_dtypes("cpu")
        ):
            return
        seed()
        with tolerant():
            inputs = self._info.sample_inputs("cpu", dtype, requires_grad=requires_grad)
            for given in itertools.islice(inputs, _MOST_INPUTS):
                yield partial(self._info, given.input, *given.args, **given.kwargs)

    def on_accelerators(self, dtype: torch.dtype) -> bool:
        """Tell whether PyTorch takes ``dtype`` on a GPU, whatever the CPU does."""
        return dtype in self._info.dtypesIfCUDA

    def wrong(self) -> Iterator[Call]:
        """Yield calls that PyTorch refuses because of their arguments."""
        if self._info.error_inputs_func is None:
            return
        seed()
        with tolerant():
            for error in self._info.error_inputs("cpu"):
                given = error.sample_input
                yield partial(self._info, given.input, *given.args, **given.kwargs)


class ModuleEntry:
    """Inputs of one class of modules."""

    def __init__(self, info: Any) -> None:
        self.name: str = info.name
        self._info = info

    def calls(self, dtype: torch.dtype, *, requires_grad: bool) -> Iterator[Call]:
        """Yield the calls at ``dtype``; ``requires_grad`` also sets the module to training."""
        seed()
        with tolerant():
            inputs = self._info.module_inputs_func(
                self._info,
                device="cpu",
                dtype=dtype,
                requires_grad=requires_grad,
                training=requires_grad,
            )
            for given in itertools.islice(inputs, _MOST_INPUTS):
                made, forward = given.constructor_input, given.forward_input
                if forward is not None:
                    module = self._info.module_cls(*made.args, **made.kwargs).to(dtype)
                    module.train(requires_grad)
                    yield partial(module, *forward.args, **forward.kwargs)

    def on_accelerators(self, dtype: torch.dtype) -> bool:
        """Return False: modules do not say."""
        del dtype  # the protocol has it
        return False

    def wrong(self) -> Iterator[Call]:
        """Yield nothing: what modules refuse, they refuse before any op."""
        return iter(())


Entry: TypeAlias = FunctionEntry | ModuleEntry


def entries_of(op: str, names: Sequence[str] = ()) -> list[Entry]:
    """Return the entries that share the name of ``op``, then those called ``names``.

    Raises ValueError when one of ``names`` is no entry.
    """
    found = list(_by_key().get(_key(op.split(".")[1]), ()))
    for name in names:
        if name not in _by_name():
            raise ValueError(f"torch's test inputs have no entry {name!r} (named for {op})")
        found.extend(_by_name()[name])
    return found


@functools.cache
def _by_name() -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for listed in _LISTS:
        for info in getattr(functions, listed):
            found.setdefault(info.name, []).append(FunctionEntry(info))
    for info in module_db:
        found.setdefault(info.name, []).append(ModuleEntry(info))
    return found


@functools.cache
def _by_key() -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for name, entries in _by_name().items():
        found.setdefault(_key(name.replace(".", "_")), []).extend(entries)
    return found


def _key(name: str) -> str:
    """Return what an op and the entries for it share: ``smoothl1loss``."""
    name = name.strip("_").lower()
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name.replace("_", "")


@contextlib.contextmanager
def tolerant() -> Iterator[None]:
    """Let inputs that cannot be made or run here (no such dtype, no library) give none."""
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
