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
from torch_tpu._internal.compile import tpu_torch_compile

from op_registry.build.answers import classify, first_line
from op_registry.build.observation import UNFIT, Answer, Reply, Run
from op_registry.build.reenter import CompositeMode
from op_registry.build.samples.sample import Sample, seed
from op_registry.build.table import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from op_registry.build.table import Entry

DEVICE = "tpu"
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
        any(output is one or torch._C._is_alias_of(output, one) for one in inputs)
        for output in outputs
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
        self._twins: dict[int, tuple[Any, torch.Tensor]] = {}

    def placeholders(
        self, schema: Any, sample: Sample, *, keep_integers: bool
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments with placeholders on the backend in place of CPU tensors."""

        def moved(value: Any) -> Any:
            if keep_integers and isinstance(value, torch.Tensor) and _is_index(value):
                return value
            return self._backend_value(value)

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
            self._adopt(result, func, args, kwargs)
            if not self.frames[-1] and not _only_views(result, func, (args, kwargs)):
                error = UNFIT
            return result  # noqa: TRY300  # a failure to adopt counts as well
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
        reply, result = _RAN, None
        twins = self._to_cpu((args, kwargs))
        try:
            result = super().leaf(name, func, args, kwargs)
        except Exception as raised:  # noqa: BLE001  # the refusal is the observation
            reply = classify(raised)
        if _on_device((args, kwargs, result)):
            self._note(name, reply)
        if reply.answer is Answer.RAN:
            # Ops that only the backend has leave no twin: the next to need it says so.
            with contextlib.suppress(NotImplementedError):
                self._pair(result, func(*twins[0], **twins[1]))
            return result
        return self._stand_in(func(*twins[0], **twins[1]), (args, kwargs), twins)

    def _adopt(self, result: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Find twins for outputs that the composite made without calling any op (some views)."""
        outputs = [t for t in pytree.tree_leaves(result) if isinstance(t, torch.Tensor)]
        if any(t.device.type != "cpu" and id(t) not in self._twins for t in outputs):
            twins = self._to_cpu((args, kwargs))
            self._pair(result, func(*twins[0], **twins[1]))

    def _note(self, leaf: str, reply: Reply) -> None:
        if self.frames[-1].setdefault(leaf, reply).answer is Answer.RAN:
            self.frames[-1][leaf] = reply

    def _pair(self, result: Any, expected: Any) -> None:
        for mine, twin in zip(
            pytree.tree_leaves(result), pytree.tree_leaves(expected), strict=True
        ):
            if isinstance(mine, torch.Tensor):
                self._twins[id(mine)] = (mine, twin)

    def _stand_in(self, expected: Any, given: Any, twins: Any) -> Any:
        """Return placeholders shaped like ``expected``; an output that is an input stays it."""
        mine = {
            id(twin): arg
            for twin, arg in zip(pytree.tree_leaves(twins), pytree.tree_leaves(given), strict=True)
            if isinstance(twin, torch.Tensor)
        }
        return pytree.tree_map_only(
            torch.Tensor, lambda t: mine[id(t)] if id(t) in mine else self._placeholder(t), expected
        )

    def _placeholder(self, twin: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = tpu_torch_compile.placeholder(list(twin.shape), twin.dtype)
        self._twins[id(made)] = (made, twin)
        return made

    def _backend_value(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self._placeholder(value)
        if isinstance(value, torch.device):
            return torch.device(DEVICE)
        return None if isinstance(value, torch.Generator) else value

    def _to_cpu(self, tree: Any) -> Any:
        return pytree.tree_map(self._cpu_value, tree)

    def _cpu_value(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if value.device.type == "cpu":
                return value
            if id(value) not in self._twins:
                raise LookupError("a tensor that no recorded op made")
            return self._twins[id(value)][1]
        return torch.device("cpu") if isinstance(value, torch.device) else value
