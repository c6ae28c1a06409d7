"""TPA208: CUDA graphs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api import symbol_text
from tpu_audit.rules.cuda_api.device_module import is_of_device_module
from tpu_audit.rules.cuda_api.roles import is_probed, is_type_test
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.table import cuda_symbols, names_of
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_NAMES = names_of("TPA208")

RULE = Rule(
    code="TPA208",
    name="cuda-graph",
    severity=Severity.ERROR,
    words=("cuda",),
    docs=Docs(
        what="Finds `torch.cuda.CUDAGraph`, `torch.cuda.graph`, `make_graphed_callables` and what "
        "goes with them.",
        why="A CUDA graph records CUDA kernels: making one raises where CUDA is absent. On a TPU "
        "`torch.compile` turns a function into one program.",
        example="graph = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(graph):\n"
        "    y = model(x)\ngraph.replay()",
        instead="model = torch.compile(model)\ny = model(x)",
        references=(
            "https://docs.pytorch.org/docs/stable/generated/torch.compile.html",
            "https://docs.pytorch.org/docs/stable/notes/cuda.html",
        ),
    ),
    valid=(
        Case("import torch\nmodel = torch.compile(model)\n"),
        Case("import networkx as nx\ng = nx.graph.Graph()\ngraph(g)\n"),
        Case("import torch\nclass Entry:\n    graph: torch.cuda.CUDAGraph | None = None\n"),
        Case("import torch\nif isinstance(g, torch.cuda.CUDAGraph):\n    g.reset()\n"),
        Case(
            "import torch\ndef warm(model, x):\n    if not torch.cuda.is_available():\n"
            "        return None\n    return torch.cuda.CUDAGraph()\n"
        ),
    ),
    invalid=(
        Case(
            "import torch\nfrom dataclasses import dataclass, field\n@dataclass\nclass Graphs:\n"
            "    loop: torch.cuda.CUDAGraph = field(default_factory=torch.cuda.CUDAGraph)\n",
            lines=(5,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\ng = torch.cuda.CUDAGraph()\n"
            "with torch.cuda.graph(g, pool=torch.cuda.graph_pool_handle()):\n    y = f(x)\n",
            lines=(2, 3, 3),
        ),
        Case(
            "from torch.cuda.graphs import make_graphed_callables\n"
            "step = make_graphed_callables(step, (x,))\n",
            lines=(2,),
        ),
        Case(
            "import torch as t\nif t.cuda.is_current_stream_capturing():\n    x = x.clone()\n",
            lines=(2,),
        ),
    ),
)


@RULE.use(*_NAMES)
def check(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find uses, tests of a type and of existence excepted."""
    symbol = cuda_symbols()[name]
    probed = is_probed(node, name.rpartition(".")[2], module)
    if probed or is_type_test(node, module) or is_of_device_module(node, module):
        return
    yield module.hit(
        node,
        symbol_text.message(symbol, symbol.name),
        symbol_text.advice(symbol),
        severity=Severity.INFO
        if _is_field(node, module)
        else symbol_text.severity(symbol, node, module),
    )


def _is_field(node: ast.expr, module: Module) -> bool:
    """Tell ``graph: CUDAGraph = field(default_factory=CUDAGraph)``: who makes the class asks."""
    statement = module.statement(node)
    return isinstance(statement, ast.AnnAssign) and isinstance(
        module.parent(statement), ast.ClassDef
    )
