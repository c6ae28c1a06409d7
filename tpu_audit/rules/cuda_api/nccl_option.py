"""TPA222: settings of NCCL, and collectives that TorchTPU's process group lacks."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api import symbol_text
from tpu_audit.rules.cuda_api.environment import Use, is_update, use_of
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.table import cuda_symbols, names_of
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_DISTRIBUTED = "torch.distributed."
_COLLECTIVES = {
    "reduce": "all_reduce",
    "all_reduce_coalesced": "all_reduce",
    "all_gather_coalesced": "all_gather",
    "monitored_barrier": "barrier",
}
"""Collectives without a kernel, and what does their work."""
_PREFIXES = ("NCCL_", "TORCH_NCCL_")
_LEAVE = "leave it out on a TPU"

_ON_HOST = re.compile(r"(?:^|[._])(?:cpu|gloo|host)(?=_|$)")
"""Names of process groups over the hosts."""

RULE = Rule(
    code="TPA222",
    name="nccl-option",
    severity=Severity.WARNING,
    words=(
        "NCCL_*",
        "ProcessGroupNCCL",
        "nccl",
        "reduce",
        "recv",
        "barrier",
        "monitored_barrier",
        "all_reduce_coalesced",
        "all_gather_coalesced",
    ),
    docs=Docs(
        what="Finds variables `NCCL_*` that code sets, `ProcessGroupNCCL`, `torch.cuda.nccl`, and "
        "`reduce`, `monitored_barrier`, coalesced collectives, `recv` without a source and "
        "`barrier` with `device_ids`.",
        why="There is no NCCL on a TPU: the variables do nothing, and the classes are absent. "
        "TorchTPU's process group does not support the collectives named here.",
        example='os.environ["NCCL_P2P_DISABLE"] = "1"\ndist.reduce(loss, dst=0)',
        instead="dist.all_reduce(loss)",
        references=(
            "https://docs.pytorch.org/docs/stable/distributed.html",
            "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        ),
    ),
    valid=(
        Case(
            "import torch.distributed as dist\n"
            "dist.monitored_barrier(group=self.helper.cpu_comm_group, wait_all_ranks=True)\n"
        ),
        Case("import torch.distributed as dist\ndist.all_reduce(x)\ndist.barrier()\n"),
        Case("from functools import reduce\nimport torch.distributed as dist\nreduce(f, xs)\n"),
        Case("import os\nif os.environ.get('NCCL_DEBUG'):\n    log()\n"),
        Case("import torch.distributed as dist\ndist.recv(x, src=0)\ndist.recv(x, 1)\n"),
        Case("DOC = 'set NCCL_DEBUG=INFO'\nNCCL_KEYS = ['NCCL_DEBUG']\n"),
    ),
    invalid=(
        Case(
            'import os\nos.environ["NCCL_P2P_DISABLE"] = "1"\n'
            'os.environ.setdefault("NCCL_DEBUG", "INFO")\n',
            lines=(2, 3),
        ),
        Case(
            "import os, subprocess\nenv = dict(os.environ, NCCL_SOCKET_IFNAME='eth0')\n"
            "subprocess.run(cmd, env={**env, 'TORCH_NCCL_BLOCKING_WAIT': '1'})\n",
            lines=(2, 3),
        ),
        Case(
            "import torch.distributed as dist\n"
            "opts = dist.ProcessGroupNCCL.Options(is_high_priority_stream=True)\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "import torch.distributed as dist\ndef log(loss):\n"
            "    dist.reduce(loss, dst=0)\n    dist.monitored_barrier()\n",
            lines=(3, 4),
        ),
        Case("import torch.distributed as dist\ndist.barrier(device_ids=[rank])\n", lines=(2,)),
        Case("from torch import distributed as dist\nwho = dist.recv(buffer)\n", lines=(2,)),
        Case(
            "import torch\nprint(torch.cuda.nccl.version())\n", lines=(2,), severity=Severity.ERROR
        ),
    ),
)


@RULE.string(*_PREFIXES)
def check_variable(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find variables that are set by name in a string."""
    name = str(constant.value)
    if name.startswith(_PREFIXES) and use_of(constant, module) is Use.SET:
        yield from _variable(constant, name, module)


@RULE.module
def check_update(module: Module) -> Iterator[Hit]:
    """Find variables that are set by keyword."""
    for name, arguments in module.index.keywords.items():
        if name.startswith(_PREFIXES):
            for argument in arguments:
                if is_update(argument, module):
                    yield from _variable(argument, name, module)


@RULE.use("torch.distributed.ProcessGroupNCCL", "torch.distributed.ProcessGroupNCCL.*")
def check_group(node: ast.expr, _: str, module: Module) -> Iterator[Hit]:
    """Find the class of NCCL's process group, once where it stands."""
    if not isinstance(module.parent(node), ast.Attribute):
        yield module.hit(
            node,
            "`ProcessGroupNCCL` does not exist where PyTorch is built without NCCL",
            "pass no options of NCCL's on a TPU",
            severity=Severity.WARNING if module.context(node).caught else Severity.ERROR,
        )


@RULE.use(*names_of("TPA222"))
def check_symbol(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find ``torch.cuda.nccl``."""
    symbol = cuda_symbols()[name]
    yield module.hit(
        node,
        symbol_text.message(symbol, symbol.name),
        symbol_text.advice(symbol),
        severity=symbol_text.severity(symbol, node, module),
    )


@RULE.call(*(_DISTRIBUTED + name for name in _COLLECTIVES), _DISTRIBUTED + "recv")
def check_collective(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find the collectives that TorchTPU's process group lacks."""
    word = name.rpartition(".")[2]
    if word == "recv" and (len(call.args) > 1 or keyword(call, "src", "group_src") is not None):
        return
    group = keyword(call, "group")
    if group is not None and _ON_HOST.search(module.code(group)):
        return
    instead = _COLLECTIVES.get(word)
    yield module.hit(
        call.func,
        f"`{name}` without a source is not supported on a TPU"
        if instead is None
        else f"`{name}` is not supported by the process group of a TPU",
        f"write `{_DISTRIBUTED}{instead}`" if instead else "name the source: `src=`",
    )


@RULE.call(_DISTRIBUTED + "barrier")
def check_barrier(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find barriers that name devices."""
    ids = keyword(call, "device_ids")
    if isinstance(ids, ast.List):
        yield module.hit(
            ids,
            f"`device_ids` of `{name}` is not supported by the process group of a TPU",
            "leave `device_ids` out",
        )


def _variable(node: ast.AST, name: str, module: Module) -> Iterator[Hit]:
    yield module.hit(
        node, f"`{name}` does nothing on a TPU, which has no NCCL", _LEAVE, cause="variable"
    )
