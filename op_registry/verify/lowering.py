"""Lowers a sample through the backend's own kernels to a StableHLO program, without a device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree
from torch_tpu._internal import execution_mode
from torch_tpu._internal.compile import tpu_torch_compile

from op_registry.build.answers import classify
from op_registry.build.observation import Answer
from op_registry.evidence import Cause
from op_registry.verify.joint import LOST, OTHER_SHAPE
from op_registry.verify.results import outputs, written

if TYPE_CHECKING:
    from collections.abc import Callable

    from op_registry.build.samples.sample import Sample

DEVICE = "tpu"
_CAUSES = {
    Answer.NOT_IMPLEMENTED: Cause.NOT_IMPLEMENTED,
    Answer.HOST_SYNC: Cause.HOST_SYNC,
    Answer.NEEDS_DEVICE: Cause.NEEDS_DEVICE,
    Answer.REJECTED: Cause.REJECTED,
    Answer.OTHER: Cause.REJECTED,
}
_TEXTS = (
    ("_overrideable not implemented", Cause.NOT_IMPLEMENTED),
    ("DispatchStub: missing kernel for", Cause.NOT_IMPLEMENTED),
    ("device type, got: tpu", Cause.NOT_IMPLEMENTED),
    ("derivative for aten::", Cause.NOT_IMPLEMENTED),
    ("have CPU Backend, but got", Cause.NOT_IMPLEMENTED),
    ("expects CPU tensor", Cause.NOT_IMPLEMENTED),
    ("only supports CPU", Cause.NOT_IMPLEMENTED),
    ("are likely triggering this with tensor backend other than", Cause.NOT_IMPLEMENTED),
    (LOST, Cause.VALUES),
    (OTHER_SHAPE, Cause.SHAPE),
    ("No backend type associated with device type tpu", Cause.NEEDS_DEVICE),
    ("Trying to get the data pointer", Cause.OTHER),
    ("Cannot access storage of", Cause.OTHER),
    ("Internal error: NestedTensorImpl", Cause.OTHER),
    ("identified a duplicate input", Cause.OTHER),
    ("failed to get buffer from result tensor", Cause.OTHER),
    ("build_mlir(): argument tensor has deferred ops", Cause.OTHER),
)
"""What PyTorch's own code and the compiler's front end say: it is no refusal by a kernel."""
_ON_HOST = "the results are on the CPU: the op computed there"


@dataclass(frozen=True, kw_only=True, slots=True)
class Lowered:
    """What a call became."""

    program: str
    """StableHLO; empty when the call needs none: no tensor came out of it."""
    inputs: tuple[int, ...]
    """The program's arguments, as places among the sample's tensors."""
    outputs: tuple[int, ...]
    """The program's results, as places among the call's: some ops return sizes on the CPU."""
    shapes: tuple[tuple[torch.dtype, tuple[int, ...]], ...]
    """Dtype and shape of each of the program's results."""
    host_integers: bool = False
    """Lengths and indices had to stay on the CPU: their values are part of the program."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """Why a call became no program."""

    cause: Cause
    message: str
    """First line of the error, without what changes from run to run."""


def lower(func: Any, sample: Sample, hidden: frozenset[int] = frozenset()) -> Lowered | Refused:
    """Return what the kernels make of ``func`` called with ``sample``.

    ``hidden`` are places among the sample's tensors that the op writes to although its schema does
    not say so. Some ops want lengths and sizes on the CPU: when a call fails, it is made again with
    those there.
    """
    first = _attempt(func, sample, hidden, stay=lambda _: False)
    if isinstance(first, Lowered) or not any(map(_is_index, sample.tensors())):
        return first
    second = _attempt(func, sample, hidden, stay=_is_index)
    return replace(second, host_integers=True) if isinstance(second, Lowered) else first


def _attempt(
    func: Any, sample: Sample, hidden: frozenset[int], *, stay: Callable[[torch.Tensor], bool]
) -> Lowered | Refused:
    mode = execution_mode.EagerMode._INTERNAL_COMPILE_FX_GRAPH
    with execution_mode.set_eager_mode(mode), torch.no_grad():
        try:
            call = _Call(func, sample, hidden, stay)
            results = call.run()
            kept = {at: one for at, one in enumerate(results) if one.device.type == DEVICE}
            if results and not kept:
                return Refused(cause=Cause.OTHER, message=_ON_HOST)
            return Lowered(
                program=_program(list(kept.values()), call),
                inputs=tuple(call.placeholders),
                outputs=tuple(kept),
                shapes=tuple((one.dtype, tuple(one.shape)) for one in kept.values()),
            )
        except Exception as error:  # noqa: BLE001  # the refusal is the observation
            return _refused(error)


class _Call:
    """A call on placeholders.

    The backend refuses programs whose arguments were written to: those are handed over as copies.
    What ``out=`` arguments hold means nothing, so new memory stands for them and the program has
    the arguments of the functional form.
    """

    def __init__(
        self,
        func: Any,
        sample: Sample,
        hidden: frozenset[int],
        stay: Callable[[torch.Tensor], bool],
    ) -> None:
        self._func = func
        self._sample = sample
        self._changed = written(func, sample) | hidden
        self._outs = written(func, sample, only_out=True)
        self._stay = stay
        self.placeholders: dict[int, torch.Tensor] = {}
        """The program's arguments by their places among the sample's tensors."""

    def run(self) -> list[torch.Tensor]:
        """Return the tensors that the call makes or changes."""
        leaves, spec = pytree.tree_flatten((self._sample.args, self._sample.kwargs))
        given: list[torch.Tensor] = []
        for index, leaf in enumerate(leaves):
            if isinstance(leaf, torch.Tensor):
                leaves[index] = self._tensor(len(given), leaf)
                given.append(leaves[index])
            elif isinstance(leaf, torch.device):
                leaves[index] = torch.device(DEVICE)
            elif isinstance(leaf, torch.Generator):
                leaves[index] = None
        args, kwargs = pytree.tree_unflatten(leaves, spec)
        if not given and _takes_device(self._func):
            kwargs["device"] = torch.device(DEVICE)
        changed = [given[place] for place in sorted(self._changed)]
        return outputs(self._func(*args, **kwargs), changed)

    def _tensor(self, place: int, tensor: torch.Tensor) -> torch.Tensor:
        if place in self._outs:
            return torch.empty(tensor.shape, dtype=tensor.dtype, device=DEVICE)
        if self._stay(tensor):
            return tensor
        made: torch.Tensor = tpu_torch_compile.placeholder(list(tensor.shape), tensor.dtype)
        self.placeholders[place] = made
        return made.clone() if place in self._changed else made


def _program(results: list[torch.Tensor], call: _Call) -> str:
    if not results:
        return ""
    module = tpu_torch_compile.build_mlir(results, list(call.placeholders.values()))
    text: str = tpu_torch_compile.serialize_mlir_text(module, enable_debug_info=False)
    return text


def _refused(error: Exception) -> Refused:
    reply = classify(error)
    cause = _CAUSES[reply.answer]
    if cause is Cause.REJECTED:
        cause = next((known for text, known in _TEXTS if text in reply.message), cause)
    return Refused(cause=cause, message=reply.message)


def _is_index(tensor: torch.Tensor) -> bool:
    return tensor.dtype in {torch.int64, torch.int32} and tensor.dim() <= 1


def _takes_device(func: Any) -> bool:
    return any(a.name == "device" and a.kwarg_only for a in func._schema.arguments)
