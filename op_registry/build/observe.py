"""Runs sample calls on the backend's placeholder tensors and notes the ops they end in.

No device is needed: in the mode in which torch.compile traces, the backend's kernels build their
programs without running them. Each tensor has a twin on the CPU, on which every op is run as well:
when the backend refuses an op, the twin's result lets the call go on to its end.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree
from torch_tpu._internal import execution_mode

from op_registry.build.answers import classify, first_line
from op_registry.build.observation import UNFIT, Answer, Reply, Run
from op_registry.build.reenter import CompositeMode
from op_registry.build.samples.sample import Sample, seed
from op_registry.build.table import dotted
from op_registry.build.twins import DEVICE, Twins

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from op_registry.build.table import Entry

_is_alias_of = torch._C._is_alias_of  # type: ignore[attr-defined]
_RAN = Reply(answer=Answer.RAN)


def observe(func: Any, sample: Sample, table: Mapping[str, Entry]) -> dict[str, list[Run]]:
    """Run ``func`` on placeholders shaped like ``sample``.

    Returns what was seen of ``func`` itself and of each composite that it went through. Some ops
    want lengths and sizes on the CPU: when the call fails, it is made again with those there.
    """
    seen = _observe(func, sample, table, keep_integers=False)
    if _failed(seen, func) and any(_is_index(t) for t in sample.tensors()):
        second = _observe(func, sample, table, keep_integers=True)
        return seen if _failed(second, func) else second
    return seen


def _failed(seen: Mapping[str, list[Run]], func: Any) -> bool:
    return bool(seen[dotted(func.name())][-1].error)


def _observe(
    func: Any, sample: Sample, table: Mapping[str, Entry], *, keep_integers: bool
) -> dict[str, list[Run]]:
    observer = _Observer(table)
    args, kwargs = observer.placeholders(func._schema, sample.copied(), keep_integers=keep_integers)
    seed()
    error = "" if _on_device((args, kwargs)) else "the sample has no tensor that could be on a TPU"
    with _tracing():
        try:
            with observer:
                result = func(*args, **kwargs)
            if not observer.frames[0] and not _only_views(result, func, (args, kwargs)):
                error = error or UNFIT
        except Exception as raised:  # noqa: BLE001  # any error of foreign code is an observation
            error = first_line(raised)
    if (name := dotted(func.name())) not in observer.runs:
        observer.runs[name] = [Run(leaves=observer.frames[0], error=error)]
    return observer.runs


def _is_index(tensor: torch.Tensor) -> bool:
    return tensor.dtype in {torch.int64, torch.int32} and tensor.dim() <= 1


def _only_views(result: Any, func: Any, given: Any) -> bool:
    """Tell whether a call that called no op can do so on a device: it only shares its inputs."""
    if not any("Tensor" in str(returned.type) for returned in func._schema.returns):
        return True
    inputs = [leaf for leaf in pytree.tree_leaves(given) if isinstance(leaf, torch.Tensor)]
    outputs = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]
    return bool(outputs) and all(
        any(output is one or _is_alias_of(output, one) for one in inputs) for output in outputs
    )


def _on_device(tree: Any) -> bool:
    return any(
        (isinstance(leaf, torch.Tensor) and leaf.device.type == DEVICE)
        or (isinstance(leaf, torch.device) and leaf.type == DEVICE)
        for leaf in pytree.tree_leaves(tree)
    )


@contextlib.contextmanager
def _tracing() -> Iterator[None]:
    mode = execution_mode.EagerMode._INTERNAL_COMPILE_FX_GRAPH
    with execution_mode.set_eager_mode(mode), torch.no_grad():
        yield


class _Observer(CompositeMode):
    """Keeps the twins, and a frame of leaves for each composite under way."""

    def __init__(self, table: Mapping[str, Entry]) -> None:
        super().__init__(table)
        self.runs: dict[str, list[Run]] = {}
        self.frames: list[dict[str, Reply]] = [{}]
        self._twins = Twins()

    def placeholders(
        self, schema: Any, sample: Sample, *, keep_integers: bool
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments with placeholders on the backend in place of CPU tensors."""

        def moved(value: Any) -> Any:
            if keep_integers and isinstance(value, torch.Tensor) and _is_index(value):
                return value
            return self._twins.to_backend(value)

        args, kwargs = pytree.tree_map(moved, (sample.args, sample.kwargs))
        makes_tensors = any(a.name == "device" and a.kwarg_only for a in schema.arguments)
        if makes_tensors and not sample.tensors():
            kwargs["device"] = torch.device(DEVICE)
        return args, kwargs

    def composite(
        self, name: str, func: Any, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run the composite in a frame of its own, then add its leaves to the frame below."""
        self.frames.append({})
        error = ""
        try:
            result = super().composite(name, func, key, args, kwargs)
            if self._twins.lacks(result):
                # Some views are made without calling any op.
                self._find_twins(result, func, self._twins.of((args, kwargs)))
            if not self.frames[-1] and not _only_views(result, func, (args, kwargs)):
                error = UNFIT
            return result  # noqa: TRY300  # the rest of the block can fail as well
        except Exception as raised:
            error = first_line(raised)
            raise
        finally:
            leaves = self.frames.pop()
            self.runs.setdefault(name, []).append(Run(leaves=leaves, error=error))
            for leaf, reply in leaves.items():
                self._note(leaf, reply)

    def leaf(self, name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a leaf on the backend and on the twins; the twins' result stands in for a refusal."""
        given = (args, kwargs)
        twins = self._twins.of(given)
        try:
            result = super().leaf(name, func, args, kwargs)
        except Exception as raised:  # the refusal is the observation
            if _on_device(given):
                self._note(name, classify(raised))
            if twins is None:
                raise
            return self._twins.stand_in(func(*twins[0], **twins[1]), given, twins)
        if _on_device((given, result)):
            self._note(name, _RAN)
        self._find_twins(result, func, twins)
        return result

    def _find_twins(self, result: Any, func: Any, twins: Any | None) -> None:
        # What only the backend has leaves no twin: that matters when a refusal needs one.
        if twins is not None:
            with contextlib.suppress(Exception):
                self._twins.pair(result, func(*twins[0], **twins[1]))

    def _note(self, leaf: str, reply: Reply) -> None:
        if self.frames[-1].setdefault(leaf, reply).answer is Answer.RAN:
            self.frames[-1][leaf] = reply
