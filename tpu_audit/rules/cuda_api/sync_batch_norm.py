"""TPA228: batch norm that is synchronised between processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_EFFECT = (
    "trains in several processes with ops that have no kernel for TPUs, `batch_norm_stats` and "
    "`batch_norm_gather_stats_with_counts`: it raises"
)
_ADVICE = "keep `BatchNorm` (each process's own statistics), or use `GroupNorm`"

RULE = Rule(
    code="TPA228",
    name="sync-batch-norm",
    severity=Severity.WARNING,
    words=("SyncBatchNorm", "sync_batchnorm"),
    docs=Docs(
        what="Finds `torch.nn.SyncBatchNorm`, its `convert_sync_batchnorm`, and "
        "`sync_batchnorm=True` of Lightning.",
        why="In training it gathers statistics with ops for which TorchTPU has no kernel. In one "
        "process, and in evaluation, it is an ordinary batch norm and works.",
        example="model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)",
        instead="model = DistributedDataParallel(model)  # statistics of each process",
        references=("https://docs.pytorch.org/docs/stable/generated/torch.nn.SyncBatchNorm.html",),
    ),
    valid=(
        Case("import torch\nnorm = torch.nn.BatchNorm2d(8)\n"),
        Case("import torch\nif isinstance(m, torch.nn.SyncBatchNorm):\n    m.eval()\n"),
        Case("trainer = Trainer(sync_batchnorm=False)\n"),
        Case("from torch import nn\nKINDS = {'BN': nn.BatchNorm2d, 'SyncBN': nn.SyncBatchNorm}\n"),
    ),
    invalid=(
        Case(
            "import torch\nm = torch.nn.SyncBatchNorm.convert_sync_batchnorm(m)\n",
            lines=(2,),
        ),
        Case("from torch import nn\nnorm = nn.SyncBatchNorm(64)\n", lines=(2,)),
        Case("import lightning as L\nt = L.Trainer(sync_batchnorm=True)\n", lines=(2,)),
    ),
)


@RULE.call("torch.nn.SyncBatchNorm", "torch.nn.SyncBatchNorm.convert_sync_batchnorm")
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find layers that are made, and models that are converted."""
    yield module.hit(call.func, f"`{name}` {_EFFECT}", _ADVICE, cause=_EFFECT)


@RULE.keyword("sync_batchnorm")
def check_trainer(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find trainers that convert the model."""
    if any(possible.value is True for possible in module.value(keyword.value)):
        yield module.hit(keyword, f"`sync_batchnorm` {_EFFECT}", _ADVICE, cause=_EFFECT)
