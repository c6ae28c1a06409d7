"""TPA612: compiled extensions of graph libraries."""

from __future__ import annotations

from tpu_audit.rules.libraries.kernel_packages import GRAPHS
from tpu_audit.rules.libraries.recognise import recognise, words
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

RULE = Rule(
    code="TPA612",
    name="graph-extensions",
    severity=Severity.ERROR,
    words=words(GRAPHS),
    docs=Docs(
        what="Finds the compiled extensions of PyTorch Geometric, and DGL.",
        why="Their ops have kernels for CPU and CUDA only: a call with TPU tensors raises. "
        "Sums and means of `torch_scatter` are written in torch ops, and are worth a warning.",
        example="from torch_scatter import scatter_max\n\n"
        "out, _ = scatter_max(messages, index, dim=0, dim_size=n)",
        instead="from torch_geometric.utils import scatter\n\n"
        'out = scatter(messages, index, dim=0, dim_size=n, reduce="max")',
        references=(
            "https://pytorch-geometric.readthedocs.io/en/latest/install/installation.html",
            "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_add_.html",
        ),
    ),
    valid=(
        Case("from torch_geometric.utils import scatter\n"),
        Case("import torch\nx.scatter_add_(0, i, y)\n"),
        Case("torch_geometric\nscatter\n", filename="requirements.txt"),
    ),
    invalid=(
        Case(
            "from torch_scatter import scatter_add, scatter_max\n",
            lines=(1,),
            severity=Severity.ERROR,
        ),
        Case(
            "from torch_scatter import scatter_mean as mean\n",
            lines=(1,),
            severity=Severity.WARNING,
        ),
        Case("import dgl.function as fn\n", lines=(1,)),
        Case("import torch_sparse, torch_cluster\n", lines=(1,)),
        Case(
            "try:\n    import pyg_lib\nexcept ImportError:\n    pass\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "torch-scatter\n",
            filename="docs/requirements.txt",
            lines=(1,),
            severity=Severity.INFO,
        ),
        Case(
            "-f https://data.pyg.org/whl/torch-2.4.0+cu121.html\ntorch-scatter\ntorch_sparse\n",
            filename="requirements.txt",
            lines=(2, 3),
            severity=Severity.WARNING,
        ),
    ),
)

recognise(RULE, GRAPHS)
