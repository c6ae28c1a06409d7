"""The backend that Dynamo hands its graphs to: torch_tpu's pipeline, up to the kernels.

AOTAutograd with torch_tpu's two decompositions, then node by node, as torch_tpu's compiler runs
a graph: each node is one call of an eager kernel. Here the recorder sees the call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import fx
from torch._decomp import get_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch._functorch._aot_autograd.utils import make_boxed_func

from tpu_audit.trace.compiling.places import GraphPlaces
from tpu_audit.trace.recorder import Recorder
from tpu_audit.types.errors import shorten
from tpu_audit.types.trace import Role

if TYPE_CHECKING:
    from collections.abc import Callable


aten = torch.ops.aten
_DECOMPOSED = (aten.masked_fill.Tensor, aten.masked_fill_.Tensor)
"""What torch_tpu 0.2.0 has AOTAutograd decompose (``_internal/compile/_backend.py``)."""


@dataclass(kw_only=True, slots=True)
class Backend:
    """Counts graphs and what runs them, and writes their calls down for ``phase``."""

    recorder: Recorder
    places: GraphPlaces
    phase: str
    graphs: int = 0
    launches: int = 0
    lower: bool = True
    """Take graphs apart into calls; else only count them."""
    root: str = ""
    """Path of the module whose code the newest graph is of."""
    refused: list[str] = field(default_factory=list)
    """Why AOTAutograd did not take a graph, one sentence each."""

    def __call__(self, graph: fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        """Take a graph from Dynamo; the result runs it."""
        self.graphs += 1
        self.root = self.places.holder(None) or ""
        run = self._lowered(graph, inputs) if self.lower else graph.forward

        def launch(*args: Any) -> Any:
            self.launches += 1
            return run(*args)

        return launch

    def _lowered(self, graph: fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        compiler = aot_autograd(
            fw_compiler=partial(self._runner, None),
            bw_compiler=partial(self._runner, Role.BACKWARD),
            decompositions=get_decompositions(_DECOMPOSED),
        )
        try:
            run: Callable[..., Any] = compiler(graph, inputs)
        except Exception as error:  # noqa: BLE001 - Dynamo's findings stand without it
            self.refused.append(shorten(error, 160))
            return graph.forward
        return run

    def _runner(self, role: Role | None, graph: fx.GraphModule, _inputs: Any) -> Any:
        return make_boxed_func(_Nodes(graph, self, role).run)


class _Nodes(fx.Interpreter):
    """Runs a graph node by node, under the name of the module and the line each came from."""

    def __init__(self, graph: fx.GraphModule, backend: Backend, role: Role | None) -> None:
        super().__init__(graph)
        self._role = role
        self._backend = backend
        self._root = backend.root

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph; its calls are those of the phase."""
        recorder = self._backend.recorder
        recorder.enter(self._backend.phase)
        recorder.role = self._role
        try:
            return super().run(*args, **kwargs)
        finally:
            recorder.enter(None)
            recorder.role = None

    def run_node(self, node: fx.Node) -> Any:
        """Run one node."""
        with self._backend.places.at(
            self._root, node.meta.get("nn_module_stack"), node.stack_trace
        ):
            return super().run_node(node)
