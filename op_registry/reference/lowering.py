"""The child that lowers reference kernels through torch_tpu, no TPU needed.

Request: ``{"op": "aten.mish.default", "dtype": "float32", "most": 3, "folder": "/where"}``, with
``"gradient": true`` for the joint graph of forward and backward, and ``"largest": true`` for the
largest samples instead of the first ones. The result is
``{"lowered": [...]}`` with, for each sample, ``{"program": path of the StableHLO text}`` or
``{"error": what it raised}``.
"""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from op_registry.build.table import overload_of
from op_registry.loader import load
from op_registry.reference.checks.gradient import differentiated, joint
from op_registry.reference.checks.native import is_used
from op_registry.reference.checks.outcome import tell
from op_registry.reference.declare import Declaration, declared
from op_registry.reference.install import install
from op_registry.reference.samples import collect, table
from op_registry.toolchain.serve import serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from op_registry.build.samples.sample import Sample
    from op_registry.toolchain.serve import Handle

_DEVICE = "tpu"


def prepare() -> Handle:
    """Bring the backend up, install the kernels, return the function that answers requests."""
    # Before the backend is there: after it, inputs would be made on it, and the dispatcher's table
    # would show what is installed.
    kernels = declared()
    table()
    snapshot, passed_over = load(), {entry.op for entry in install() if not entry.installs}

    def handle(request: dict[str, Any]) -> dict[str, Any]:
        declaration = _declaration(kernels, request)
        # A composite that the wheel runs by itself, but not without the host, say.
        direct = declaration.op in passed_over and is_used(declaration, snapshot)
        return {"lowered": list(_lowered(declaration, request, direct=direct))}

    return handle


def _declaration(kernels: dict[str, Declaration], request: dict[str, Any]) -> Declaration:
    """Return the kernel's declaration, or one for an op of the backend's own."""
    op = request["op"]
    plain = Declaration(op=op, function=overload_of(op), source="", accuracy="")  # type: ignore[arg-type]
    return kernels.get(op, plain)


def _lowered(
    declaration: Declaration, request: dict[str, Any], *, direct: bool
) -> Iterator[dict[str, str]]:
    call = _call(declaration, direct=direct)
    dtype = request["dtype"]
    samples = _samples(declaration, dtype)
    if request.get("largest"):
        samples = sorted(samples, key=_elements, reverse=True)
    for place, sample in enumerate(samples[: request["most"]]):
        try:
            if request.get("gradient"):
                text = _gradient_program(declaration, sample)
            else:
                changes = declaration.changes or _is_mutable(declaration)
                noise = declaration.noise
                text = program(call, sample, noise=noise, changes=changes)
        except Exception as error:  # noqa: BLE001 - whatever the backend raises is what is told
            yield {"error": tell(error)}
            continue
        if text is not None:
            name = f"{declaration.op}.{dtype}.{place}{'.gradient' * bool(request.get('gradient'))}"
            path = Path(request["folder"], f"{name}.mlir")
            path.write_text(text, encoding="utf-8")
            yield {"program": str(path)}


@functools.lru_cache(maxsize=1)
def _samples(declaration: Declaration, dtype: str) -> list[Sample]:
    """Return the samples at ``dtype``; the gradient is asked for after the forward."""
    return collect([declaration], [dtype])[declaration.op].calls.get(dtype, [])


def _elements(sample: Sample) -> int:
    return sum(tensor.numel() for tensor in sample.tensors())


def _call(declaration: Declaration, *, direct: bool) -> Callable[..., Any]:
    """Return the op, which the dispatcher takes to the installed kernel; if ``direct`` the kernel.

    Random kernels are called directly: what they draw has to become an input. So are those of
    another library's ops where that is not installed. Of a kernel that needs the host at the end it
    is the part before.
    """
    if declaration.static_part is not None:
        return declaration.static_part
    direct = direct or declaration.noise or not declaration.here
    return declaration.function if direct else declaration.overload


def _is_mutable(declaration: Declaration) -> bool:
    return declaration.here and declaration.overload._schema.is_mutable


def program(
    function: Callable[..., Any], sample: Sample, *, noise: bool = False, changes: bool = False
) -> str:
    """Return the StableHLO of ``function`` called with placeholders for the tensors of ``sample``.

    Its results are the outputs, and its tensor arguments if it ``changes`` them. Raises what the
    backend raises.
    """
    from torch_tpu._internal import execution_mode
    from torch_tpu._internal.compile import tpu_torch_compile as ttc

    inputs: list[torch.Tensor] = []

    def placed(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            inputs.append(ttc.placeholder(list(value.shape), value.dtype))
            return inputs[-1]
        if isinstance(value, torch.Generator):
            return None
        return torch.device(_DEVICE) if isinstance(value, torch.device) else value

    args, kwargs = pytree.tree_map(placed, (sample.args, sample.kwargs))
    mode = execution_mode.EagerMode._INTERNAL_COMPILE_FX_GRAPH
    with execution_mode.set_eager_mode(mode), torch.no_grad():
        if changes:
            # What is written into has to be a tensor of the program's own.
            args, kwargs = pytree.tree_map_only(torch.Tensor, torch.clone, (args, kwargs))
        with _Drawn(inputs) if noise else contextlib.nullcontext():
            result = function(*args, **kwargs)
        outputs = _outputs((result, args, kwargs) if changes else result, inputs)
        text: str = ttc.serialize_mlir_text(
            ttc.build_mlir(outputs, inputs), enable_debug_info=False
        )
    return text


def _outputs(result: Any, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    leaves = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]
    elsewhere = [leaf.device for leaf in leaves if leaf.device.type != _DEVICE]
    if elsewhere:
        raise RuntimeError(f"a result is on {elsewhere[0]}, not on the TPU")
    # An input that a view op handed through is no output of a program.
    return [leaf + 0 if any(leaf is one for one in inputs) else leaf for leaf in leaves]


def _gradient_program(declaration: Declaration, sample: Sample) -> str | None:
    from torch.fx.experimental.proxy_tensor import make_fx

    # What changes its arguments is not differentiated on the CPU either: it would change leaves.
    if not declaration.here or _is_mutable(declaration):
        return None
    made = joint(differentiated(declaration), sample)
    if made is None:
        return None
    function, inputs = made
    graph = make_fx(function)(*inputs)
    _move(graph)
    return program(graph, type(sample)(args=tuple(inputs), kwargs={}))


def _move(graph: torch.fx.GraphModule) -> None:
    """Have the tensors that ``graph`` makes made on the TPU."""
    for node in graph.graph.nodes:
        node.args, node.kwargs = pytree.tree_map(
            lambda v: torch.device(_DEVICE) if isinstance(v, torch.device) else v,
            (tuple(node.args), dict(node.kwargs)),
        )
    graph.recompile()


class _Drawn(TorchDispatchMode):
    """Makes an input of the program of whatever a random op would draw."""

    def __init__(self, inputs: list[torch.Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._inputs = inputs

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        del types  # the protocol has it
        kwargs = kwargs or {}
        if torch.Tag.nondeterministic_seeded not in func.tags:
            return func(*args, **kwargs)
        if func._schema.is_mutable:
            return args[0].copy_(self._input(args[0]))
        return pytree.tree_map_only(torch.Tensor, self._input, _meta(func, args, kwargs))

    def _input(self, like: torch.Tensor) -> torch.Tensor:
        from torch_tpu._internal.compile import tpu_torch_compile as ttc

        made: torch.Tensor = ttc.placeholder(list(like.shape), like.dtype)
        self._inputs.append(made)
        return made


def _meta(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    def moved(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return torch.empty(value.shape, dtype=value.dtype, device="meta")
        return torch.device("meta") if isinstance(value, torch.device) else value

    args, kwargs = pytree.tree_map(moved, (args, kwargs))
    return func(*args, **kwargs)


if __name__ == "__main__":
    serve(prepare)
