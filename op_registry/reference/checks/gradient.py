"""Gradients: through the kernels they are those of eager PyTorch, over ops that a TPU has.

An op with a derivative formula keeps it: its forward and every op of its backward are replaced by
their kernels where they have one. A composite op has no formula; its kernel is differentiated.
"""

from __future__ import annotations

import contextlib
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from op_registry.build.samples.sample import Sample, seed
from op_registry.build.table import dotted
from op_registry.reference.adapt import adapted
from op_registry.reference.checks.compare import difference
from op_registry.reference.checks.eager import expected
from op_registry.reference.checks.native import is_used, refusal
from op_registry.reference.checks.outcome import Outcome, tell
from op_registry.reference.checks.random import draws_differ
from op_registry.reference.formulas import closure
from op_registry.reference.samples import table
from op_registry.schema import Resolution

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from op_registry.reference.declare import Declaration, Kernel
    from op_registry.schema import Snapshot

_NO_FORMULA = frozenset(
    {
        Resolution.COMPOSITE_IMPLICIT,
        Resolution.FALLTHROUGH,
        Resolution.FALLBACK,
        Resolution.NONE,
    }
)
"""What AutogradPrivateUse1 may resolve to when autograd sees the kernel itself."""
Grads = list[torch.Tensor | None]
Places = tuple[int, ...]


def check_gradient(
    declaration: Declaration,
    dtype: str,
    samples: Sequence[Sample],
    kernels: Mapping[str, Declaration],
    snapshot: Snapshot,
) -> Outcome:
    """Compare gradients on those of ``samples`` that eager PyTorch differentiates."""
    eager, failures, tried = declaration.eager, [], 0
    if not declaration.here or declaration.overload._schema.is_mutable:
        return Outcome(check="gradient", dtype=dtype, tried=0)
    for sample in samples:
        places, (wanted, exact) = _wanted(eager, sample, declaration.canonical)
        if wanted is None or (declaration.noise and draws_differ(eager, sample)):
            continue
        tried += 1
        run = partial(_gradients, canonical=declaration.canonical, places=places)
        if told := _fails(declaration, sample, run, (wanted, exact), kernels, snapshot):
            failures.append(f"{told} for {sample.signature()[:200]}")
    return Outcome(check="gradient", dtype=dtype, tried=tried, failures=tuple(failures))


def differentiated(declaration: Declaration) -> Callable[..., Any]:
    """Return what autograd sees: the op with its formula, or the kernel where it has none.

    A composite has none, nor has an op whose autograd key falls through to the kernel.
    """
    entry = table()[declaration.op]
    seen_through = entry.autograd in _NO_FORMULA or declaration.own_gradient
    return declaration.function if seen_through else declaration.overload


def _fails(
    declaration: Declaration,
    sample: Sample,
    run: Callable[..., Grads | None],
    wanted: tuple[Grads, Grads | None],
    kernels: Mapping[str, Declaration],
    snapshot: Snapshot,
) -> str:
    mode = _Substituted(kernels, snapshot)
    try:
        with mode:
            found = run(differentiated(declaration), sample)
    except Exception as error:  # noqa: BLE001 - whatever a kernel raises is what is told
        return tell(error)
    if unnamed := mode.used - closure(declaration.op, kernels):
        return f"its gradient calls {', '.join(sorted(unnamed))}: name them in `needs`"
    refused = (refusal(op, snapshot, declaration) for op in sorted(mode.leaves))
    if told := "; ".join(why for why in refused if why):
        return f"forward or backward calls {told}"
    return difference(found, *wanted, tolerance=max(1.0, declaration.tolerance))


def _wanted(
    eager: Any, sample: Sample, canonical: Kernel | None
) -> tuple[Places, tuple[Grads | None, Grads | None]]:
    """Return which inputs eager differentiates by, and their gradients, also in wider types."""

    def run(places: Places) -> tuple[Grads | None, Grads | None]:
        found: tuple[Grads | None, Grads | None] = (None, None)
        with contextlib.suppress(Exception):  # eager does not differentiate this call
            found = expected(eager, sample, partial(_gradients, canonical=canonical, places=places))
        return found

    places = _differentiable(sample, lambda some: run(some)[0] is not None)
    return places, run(places) if places else (None, None)


def _differentiable(sample: Sample, works: Callable[[Places], bool]) -> Places:
    """Return the places, among all tensors of a call, of those to differentiate by.

    They are all that may have a gradient, or else those that ``works`` by themselves: ops have no
    formula for some arguments.
    """
    every = tuple(place for place, t in enumerate(sample.tensors()) if _has_gradient(t))
    return every if works(every) else tuple(place for place in every if works((place,)))


def _has_gradient(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _gradients(
    function: Callable[..., Any],
    sample: Sample,
    *,
    canonical: Kernel | None = None,
    places: Places,
) -> Grads | None:
    """Return the gradients of a weighted sum of all outputs; None when none depends on inputs."""
    copied = sample.copied()
    tensors = copied.tensors()
    inputs = [tensors[place].requires_grad_() for place in places]
    seed()
    with warnings.catch_warnings(), torch.autograd.set_multithreading_enabled(False):
        warnings.simplefilter("ignore")
        result = function(*copied.args, **copied.kwargs)
        if canonical:
            result = canonical(result, *copied.args, **copied.kwargs)
        leaves = pytree.tree_leaves(result)
        outputs = [t for t in leaves if isinstance(t, torch.Tensor) and t.requires_grad]
        if not outputs:
            return None
        return list(
            torch.autograd.grad(outputs, inputs, [_weights(t) for t in outputs], allow_unused=True)
        )


def joint(
    function: Callable[..., Any], sample: Sample
) -> tuple[Callable[..., Any], list[torch.Tensor]] | None:
    """Return a function of tensors that runs forward and backward, and the tensors to call it with.

    None when no output depends on the inputs in a differentiable way.
    """
    leaves, spec = pytree.tree_flatten((sample.args, sample.kwargs))
    holes = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def call(*tensors: torch.Tensor) -> list[torch.Tensor]:
        given = list(leaves)
        for place, tensor in zip(holes, tensors, strict=True):
            given[place] = tensor
        args, kwargs = pytree.tree_unflatten(given, spec)
        return _forward_and_backward(function(*args, **kwargs), tensors)

    def inputs(places: Places) -> list[torch.Tensor]:
        tensors = sample.copied().tensors()
        return [t.requires_grad_(place in places) for place, t in enumerate(tensors)]

    def works(places: Places) -> bool:
        try:
            return bool(call(*inputs(places)))
        except Exception:  # noqa: BLE001 - eager does not differentiate this call
            return False

    places = _differentiable(sample, works)
    return (call, inputs(places)) if places else None


def _forward_and_backward(result: Any, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return the differentiable outputs in ``result`` and the gradients of their sum.

    Empty when there is no such output.
    """
    leaves = pytree.tree_leaves(result)
    outputs = [t for t in leaves if isinstance(t, torch.Tensor) and t.requires_grad]
    if not outputs:
        return []
    found: tuple[torch.Tensor | None, ...] = torch.autograd.grad(
        outputs,
        [t for t in tensors if t.requires_grad],
        [torch.ones_like(t) for t in outputs],
        allow_unused=True,
    )
    return [*(t.detach() for t in outputs), *(t for t in found if t is not None)]


def _weights(output: torch.Tensor) -> torch.Tensor:
    """Return what each element of ``output`` counts in the sum: not all alike."""
    steps = torch.arange(output.numel(), dtype=torch.float64).reshape(output.shape)
    return (1 + steps.remainder(7) / 8).to(output.dtype)


class _Substituted(TorchDispatchMode):
    """Runs an op's kernel in its place; notes what the kernels and the formulas call."""

    def __init__(self, kernels: Mapping[str, Declaration], snapshot: Snapshot) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.leaves: set[str] = set()
        self.used: set[str] = set()
        self._kernels = kernels
        self._snapshot = snapshot
        self._open: list[str] = []

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        del types  # the protocol has it
        name = dotted(func.name())
        kernel = self._kernels.get(name)
        if kernel is None or not is_used(kernel, self._snapshot):
            self.leaves.add(name)
            with _resolving():
                return func(*args, **(kwargs or {}))
        self.used.add(name)
        if name in self._open:
            raise RecursionError(f"the kernel of {name} calls {name}")
        self._open.append(name)
        try:
            with self, _resolving():
                return adapted(kernel.function, func._schema)(*args, **(kwargs or {}))
        finally:
            self._open.pop()


def _resolving() -> AbstractContextManager[None]:
    """Have lazy conjugates resolved: below autograd a mode is called with that switched off."""
    excluded = torch._C._dispatch_tls_local_exclude_set()
    for key in (torch._C.DispatchKey.Conjugate, torch._C.DispatchKey.Negative):
        excluded = excluded.remove(key)
    included = torch._C._dispatch_tls_local_include_set()
    guard: AbstractContextManager[None] = torch._C._ForceDispatchKeyGuard(included, excluded)
    return guard
