"""Forward and backward of a call in one, by the real dispatcher's autograd without a device.

The engine of autograd runs on placeholders of the backend as long as it does not have to hand a
gradient to a tensor there: that would make it look for the device's streams. So each input comes
out of a node that keeps the gradient for itself, and the engine ends on the CPU.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from op_registry.build.samples.family import bind
from op_registry.build.samples.sample import Sample, seed
from op_registry.verify.results import written

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

LOST = "the gradient is lost"
"""How the message begins when the backend cuts an output off from autograd."""
OTHER_SHAPE = "has another shape than eager PyTorch's"
"""In the message when the backend's output does not fit its cotangent."""
_NOT_DIFFERENTIABLE = re.compile(r"not differentiable with respect to argument '(\w+)'")


class OtherShapeError(RuntimeError):
    """An output has another shape than eager PyTorch gives on the CPU."""


class GradientLostError(RuntimeError):
    """An output or an argument has no gradient, where eager PyTorch on the CPU gives one."""


class Joint:
    """A function that takes what ``func`` takes and, behind it, a list of cotangents.

    It returns the outputs of ``func`` at the places ``outputs`` among its tensors, then the
    gradients of the arguments at the places ``inputs`` among its tensors.
    """

    def __init__(self, func: Any, outputs: Sequence[int], inputs: Sequence[int]) -> None:
        self._func = func
        self._outputs = outputs
        self._inputs = inputs
        self._schema = func._schema

    def __call__(self, *args: Any, **kwargs: Any) -> list[torch.Tensor]:
        """Raise GradientLostError when a gradient is not there, OtherShapeError as it says."""
        *given, cotangents = args
        call = Sample(args=tuple(given), kwargs=kwargs)
        found, gradients = _differentiate(self._func, call, self._inputs, cotangents, self._outputs)
        for place in self._inputs:
            if place not in gradients:
                raise GradientLostError(f"{LOST}: none arrives at tensor argument {place}")
        outputs = [found[place].detach() for place in self._outputs]
        return [*outputs, *(gradients[place] for place in self._inputs)]


def joint(func: Any, sample: Sample) -> tuple[Joint, Sample] | None:
    """Return forward and backward of ``func``, and what to call them with.

    None when the CPU gives no gradient for ``sample``. Arguments that the op writes to get none.
    """
    inputs = _differentiable(func, sample)
    if not inputs:
        return None
    with contextlib.suppress(Exception), _quietly():
        seed()
        found, gradients = _differentiate(func, sample.copied(), inputs, None, None)
        outputs = [place for place, one in enumerate(found) if one.requires_grad]
        seed()
        cotangents = [torch.randn_like(found[place]).detach() for place in outputs]
        with_cotangents = replace(sample, args=(*sample.args, cotangents))
        if gradients:
            return Joint(func, outputs, sorted(gradients)), with_cotangents
    return None


def _differentiable(func: Any, sample: Sample) -> frozenset[int]:
    """Return the places of the tensors that a gradient can be asked for, none if it cannot.

    Which arguments may not require one only the op's derivative formula knows.
    """
    inputs = frozenset(
        place
        for place, one in enumerate(sample.tensors())
        if one.is_floating_point() or one.is_complex()
    ) - written(func, sample)
    while inputs:
        try:
            with _quietly():
                _differentiate(func, sample.copied(), inputs, None, None)
        except RuntimeError as error:
            refused = _NOT_DIFFERENTIABLE.search(str(error))
            fewer = inputs - _places(func, sample, refused[1]) if refused else frozenset()
            if fewer == inputs:
                return frozenset()
            inputs = fewer
        except Exception:  # noqa: BLE001  # whatever the CPU says, it gives no gradient
            return frozenset()
        else:
            return inputs
    return inputs


def _places(func: Any, sample: Sample, argument: str) -> frozenset[int]:
    leaves = pytree.tree_leaves(bind(func._schema, sample).get(argument))
    wanted = {id(leaf) for leaf in leaves if isinstance(leaf, torch.Tensor)}
    return frozenset(at for at, one in enumerate(sample.tensors()) if id(one) in wanted)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class _Lift(torch.autograd.Function):
    """Hands a tensor on as if it came from ``origin``, and keeps its gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        origin: torch.Tensor,
        tensor: torch.Tensor,
        kept: dict[int, torch.Tensor],
        place: int,
    ) -> torch.Tensor:
        del origin
        ctx.kept, ctx.place = kept, place
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        ctx.kept[ctx.place] = gradients[0].detach()
        return None, None, None, None


def _differentiate(
    func: Any,
    sample: Sample,
    inputs: Collection[int],
    cotangents: Sequence[torch.Tensor] | None,
    outputs: Sequence[int] | None,
) -> tuple[list[torch.Tensor], dict[int, torch.Tensor]]:
    """Return the tensors that ``func`` returns, and gradients by place among the arguments.

    Without ``outputs`` all that require a gradient are differentiated, each with ones.
    """
    kept: dict[int, torch.Tensor] = {}
    with torch.enable_grad(), torch.autograd.set_multithreading_enabled(False):
        args, kwargs = _lifted(sample, inputs, kept)
        result = pytree.tree_leaves(func(*args, **kwargs))
        found = [leaf for leaf in result if isinstance(leaf, torch.Tensor)]
        if outputs is None:
            outputs = [place for place, one in enumerate(found) if one.requires_grad]
        for place in outputs:
            if not found[place].requires_grad:
                raise GradientLostError(f"{LOST}: result {place} does not require one")
        wanted = {place: found[place] for place in outputs}
        if cotangents is None:
            cotangents = [torch.ones_like(one) for one in wanted.values()]
        for (place, one), like in zip(wanted.items(), cotangents, strict=True):
            if one.shape != like.shape:
                shapes = f"{list(one.shape)} and {list(like.shape)}"
                raise OtherShapeError(f"result {place} {OTHER_SHAPE}: {shapes}")
        if wanted:
            torch.autograd.backward(list(wanted.values()), list(cotangents))
    return found, kept


def _lifted(
    sample: Sample, inputs: Collection[int], kept: dict[int, torch.Tensor]
) -> tuple[Any, Any]:
    origin = torch.zeros((), requires_grad=True)
    leaves, spec = pytree.tree_flatten((sample.args, sample.kwargs))
    place = 0
    for index, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor):
            if place in inputs:
                leaves[index] = _Lift.apply(origin, leaf, kept, place)  # type: ignore[no-untyped-call]
            place += 1
    args, kwargs = pytree.tree_unflatten(leaves, spec)
    return args, kwargs
