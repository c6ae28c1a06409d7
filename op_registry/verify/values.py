"""What eager PyTorch computes for a sample on the CPU: in its own dtype, and more precisely."""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from op_registry.build.samples.sample import Sample, seed
from op_registry.verify.results import outputs, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_WIDER = {
    torch.bfloat16: (torch.float64, torch.float32),
    torch.float16: (torch.float64, torch.float32),
    torch.float32: (torch.float64,),
    torch.complex64: (torch.complex128,),
}
"""Where a more precise result may come from, the best first."""
_REAL = {torch.complex64: torch.float32}
"""The real dtype that takes part in calls at a complex one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """Eager PyTorch's results of one call: those returned, then those written to."""

    outputs: list[torch.Tensor]
    reference: list[torch.Tensor] | None
    """The same, computed from upcast inputs; None where nothing wider accepts the call."""
    undefined: tuple[int, ...]
    """Outputs that hold uninitialised memory: only shape and dtype mean something."""
    hidden: frozenset[int]
    """Places among the sample's tensors that were written to against the schema."""
    by_reference: bool = False
    """The CPU has no kernel; the op's reference kernel computed the results."""


def run(
    func: Any, sample: Sample, stand_in: Callable[..., Any] | None = None
) -> tuple[list[torch.Tensor], frozenset[int]] | None:
    """Return the results of ``func`` on a copy of ``sample``, None when it raises.

    The second part are the places written to although the schema does not say so. ``stand_in`` is
    called in place of ``func``.
    """
    copied = sample.copied()
    tensors = copied.tensors()
    declared = written(func, copied)
    # Kernels that write past the schema leave no trace in the tensors' version counters.
    before = [None if at in declared else tensor.clone() for at, tensor in enumerate(tensors)]
    seed()
    with contextlib.suppress(Exception), _quietly():
        result = (stand_in or func)(*copied.args, **copied.kwargs)
        hidden = frozenset(
            at for at, old in enumerate(before) if old is not None and _differ(old, tensors[at])
        )
        return outputs(result, [tensors[at] for at in sorted(declared | hidden)]), hidden
    return None


def expected(
    func: Any, sample: Sample, kind: torch.dtype, stand_in: Callable[..., Any] | None = None
) -> Expected | None:
    """Return all that is known of the right results, None when the CPU refuses the call.

    ``kind`` is the dtype under which the sample counts. ``stand_in`` is the op's reference kernel,
    if it has one: where the CPU refuses the call it is asked instead.
    """
    ran = run(func, sample)
    if ran is None and stand_in is not None:
        ran = run(func, sample, stand_in)
    else:
        stand_in = None
    if ran is None or not all(map(_plain, ran[0])):
        return None
    found, hidden = ran
    return Expected(
        outputs=found,
        reference=_reference(func, sample, kind, found, stand_in),
        undefined=() if stand_in else _undefined(func, sample, found),
        hidden=hidden,
        by_reference=stand_in is not None,
    )


def _differ(old: torch.Tensor, new: torch.Tensor) -> bool:
    """Compare bit by bit: a NaN equals itself."""
    if old.shape != new.shape:
        return True
    old, new = (_bytes(one) for one in (old, new))
    return not torch.equal(old, new)


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    # Not contiguous(): one element counts as contiguous whatever its strides are.
    plain = tensor.clone(memory_format=torch.contiguous_format)
    return plain.reshape(-1).view(torch.uint8)


def _plain(tensor: torch.Tensor) -> bool:
    """Tell whether a tensor holds nothing but its values: no sparse, quantised or wrapped one."""
    return (
        type(tensor) in {torch.Tensor, torch.nn.Parameter}
        and tensor.layout is torch.strided
        and not tensor.is_quantized
        and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)
        and not tensor._is_zerotensor()
    )


def _reference(
    func: Any,
    sample: Sample,
    kind: torch.dtype,
    found: list[torch.Tensor],
    stand_in: Callable[..., Any] | None,
) -> list[torch.Tensor] | None:
    for wider in _WIDER.get(kind, ()):
        ran = run(func, _upcast(sample, kind, wider), stand_in)
        if ran is not None and [t.shape for t in ran[0]] == [t.shape for t in found]:
            return ran[0]
    return None


def _upcast(sample: Sample, kind: torch.dtype, wider: torch.dtype) -> Sample:
    """Return the call with tensors, and dtypes that were asked for, made wider."""
    dtypes = {kind: wider}
    if kind in _REAL:
        dtypes[_REAL[kind]] = wider.to_real()

    def widened(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return leaf.to(dtypes.get(leaf.dtype, leaf.dtype))
        return dtypes.get(leaf, leaf) if isinstance(leaf, torch.dtype) else leaf

    args, kwargs = pytree.tree_map(widened, (sample.args, sample.kwargs))
    return replace(sample, args=args, kwargs=kwargs)


def _undefined(func: Any, sample: Sample, found: list[torch.Tensor]) -> tuple[int, ...]:
    """Return the outputs in which uninitialised memory shows when it is filled beforehand."""
    with _filled_memory():
        ran = run(func, sample)
    if ran is None:
        return ()
    return tuple(
        place
        for place, (plain, filled) in enumerate(zip(found, ran[0], strict=False))
        if plain.shape == filled.shape and _shows(plain, filled)
    )


def _shows(plain: torch.Tensor, filled: torch.Tensor) -> bool:
    if plain.dtype is torch.bool:
        return bool((filled & ~plain).any())
    if plain.is_floating_point() or plain.is_complex():
        return bool((filled.isnan() & ~plain.isnan()).any())
    return bool(((filled == torch.iinfo(filled.dtype).max) & (plain != filled)).any())


@contextlib.contextmanager
def _filled_memory() -> Iterator[None]:
    """Have new memory filled with NaN, the largest integer or True."""
    torch.use_deterministic_algorithms(mode=True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(mode=False)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        yield
