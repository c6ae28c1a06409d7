"""TPA221: a process group's backend chosen by whether CUDA is available."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api import process_groups as groups
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_BACKEND = (
    "torch.distributed.get_default_backend_for_device("
    'torch.accelerator.current_accelerator() or torch.device("cpu"))'
)
_OTHERS = frozenset({"gloo", "mpi"})
_TEXT = "a process group on a TPU would be gloo's here: collectives go over the hosts"

RULE = Rule(
    code="TPA221",
    name="nccl-if-cuda",
    severity=Severity.WARNING,
    words=("nccl",),
    docs=Docs(
        what='Finds `"nccl" if torch.cuda.is_available() else "gloo"` and its `if` form.',
        why="A TPU takes the other arm: gloo knows no tensors on a TPU, and moves those on the "
        "host over the network.",
        example='backend = "nccl" if torch.cuda.is_available() else "gloo"',
        instead='device = torch.accelerator.current_accelerator() or torch.device("cpu")\n'
        "backend = torch.distributed.get_default_backend_for_device(device)",
        fix_safety="Unsafe: the test may hold more than whether there is a CUDA device.",
        references=("https://docs.pytorch.org/docs/stable/distributed.html",),
    ),
    valid=(
        Case("import torch\nbackend = torch.distributed.get_default_backend_for_device(dev)\n"),
        Case("backend = 'nccl' if args.fast else 'gloo'\n"),
        Case("import torch\nname = 'nccl' if torch.cuda.is_available() else None\n"),
        Case(
            "import torch\nif torch.cuda.is_available():\n    print('nccl')\n"
            "else:\n    print('gloo')\n"
        ),
    ),
    invalid=(
        Case(
            "import torch\nbackend = torch.cuda.is_available() and 'nccl' or 'gloo'\n",
            lines=(2,),
            fixed=f"import torch\nbackend = {_BACKEND}\n",
        ),
        Case(
            "import torch\nbackend = 'nccl' if torch.cuda.is_available() else 'gloo'\n",
            lines=(2,),
            columns=(11,),
            fixed=f"import torch\nbackend = {_BACKEND}\n",
        ),
        Case(
            "import torch\nimport torch.distributed as dist\n"
            'dist.init_process_group("gloo" if not dist.is_nccl_available() else "nccl")\n',
            lines=(3,),
            fixed="import torch\nimport torch.distributed as dist\n"
            f"dist.init_process_group({_BACKEND})\n",
        ),
        Case(
            "import torch\nif torch.cuda.is_available():\n    backend = 'nccl'\nelse:\n"
            "    backend = 'gloo'\n",
            lines=(3,),
        ),
        Case(
            "import torch\ndef start(device, backend='gloo'):\n    if device.type == 'cuda':\n"
            "        backend = 'nccl'\n    torch.distributed.init_process_group(backend)\n",
            lines=(4,),
        ),
        Case(
            "import pytest, torch\n@pytest.fixture\ndef ddp():\n"
            "    return DDP(backend='nccl' if torch.cuda.is_available() else 'gloo')\n",
            filename="tests/conftest.py",
            lines=(4,),
            severity=Severity.INFO,
        ),
    ),
    where_dead=Severity.WARNING,
)


@RULE.string("nccl")
def check(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find nccl in an arm that a TPU does not take, with gloo in the other."""
    if not groups.is_nccl(constant.value) or not module.reach(constant).dead:
        return
    whole = groups.outermost(constant, module)
    if isinstance(whole, ast.IfExp | ast.BoolOp):
        if module.reach(whole).dead:
            return
        if _OTHERS & set(module.value(whole).strings()):
            yield module.hit(
                whole,
                _TEXT,
                "ask `torch.distributed.get_default_backend_for_device`",
                fix=_fix(whole, module),
            )
    elif _is_alternative(constant, module):
        yield module.hit(constant, _TEXT, "ask `torch.distributed.get_default_backend_for_device`")


def _is_alternative(constant: ast.Constant, module: Module) -> bool:
    """Tell whether the variable that holds nccl may hold gloo as well."""
    parent = module.parent(constant)
    if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Name):
        return False
    bindings = module.scopes.bindings(parent.targets[0])
    values = [b.value for b in bindings if b.value is not None]
    return any(_OTHERS & set(module.value(value).strings()) for value in values)


def _fix(node: ast.IfExp | ast.BoolOp, module: Module) -> Fix:
    return repair.fix(module, Applicability.UNSAFE, module.edit(node, repair.backend(module)))
