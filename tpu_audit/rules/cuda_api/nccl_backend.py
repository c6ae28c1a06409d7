"""TPA220: process groups of NCCL."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api import process_groups as groups
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.devices import SinkKind, is_cuda
from tpu_audit.rules.python.guards import Guarded, guard_of
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_BACKEND = (
    "torch.distributed.get_default_backend_for_device("
    'torch.accelerator.current_accelerator() or torch.device("cpu"))'
)
_MESSAGE = "the process group backend nccl does not exist on a TPU"
_ADVICE = "ask `torch.distributed.get_default_backend_for_device` for the device's backend"
_KEYS = ("backend", "dist_backend", "distributed_backend", "ddp_backend", "process_group_backend")
_OPTIONS = tuple(f"--{key.replace('_', mark)}" for key in _KEYS for mark in "-_")

RULE = Rule(
    code="TPA220",
    name="nccl-backend",
    severity=Severity.ERROR,
    words=("nccl", "NCCL"),
    docs=Docs(
        what='Finds `"nccl"` as the backend of a process group: given to `init_process_group`, '
        "kept in a variable, an option or a config named like a backend, or compared with where "
        "that decides whether a tensor is moved.",
        why="PyTorch for TPUs is built without NCCL: `init_process_group` raises. TorchTPU brings "
        "a backend of its own, which PyTorch knows as the default for the device.",
        example='dist.init_process_group("nccl", rank=rank, world_size=world)',
        instead='device = torch.accelerator.current_accelerator() or torch.device("cpu")\n'
        "dist.init_process_group(\n"
        "    torch.distributed.get_default_backend_for_device(device), rank=rank, "
        "world_size=world\n)",
        fix_safety="Unsafe: the backend is then chosen by the machine, gloo on one without an "
        "accelerator. Defaults of parameters and options are not rewritten.",
        references=("https://docs.pytorch.org/docs/stable/distributed.html",),
    ),
    valid=(
        Case("import torch.distributed as dist\ndist.init_process_group('gloo')\n"),
        Case("import torch.distributed as dist\ndist.init_process_group()\n"),
        Case(
            "import torch\nbackend = 'nccl' if torch.cuda.is_available() else 'gloo'\n"
            "torch.distributed.init_process_group(backend)\n"
        ),
        Case("if backend == 'nccl':\n    log('using nccl')\n"),
        Case("if self.backend == 'nccl':\n    self.backend = 'cuda:nccl,cpu:gloo'\n"),
        Case("import torch.distributed as dist\nif dist.is_nccl_available():\n    log()\n"),
        Case(
            "import torch.distributed as dist\nif args.backend == 'nccl':\n"
            "    if not dist.is_nccl_available():\n        raise ValueError\n"
        ),
        Case("print('nccl')\nlibraries = ['nccl', 'cudart']\n"),
        Case("p.add_argument('--backend', choices=['nccl', 'gloo'], default='gloo')\n"),
        Case("name: nccl\nlibs: [nccl]\n", filename="conf.yaml"),
        Case("import torch.distributed as dist\nNCCL = dist.Backend.NCCL\n"),
    ),
    invalid=(
        Case(
            "import torch\nimport torch.distributed as dist\n"
            'dist.init_process_group("nccl", init_method="env://")\n',
            lines=(3,),
            columns=(25,),
            fixed="import torch\nimport torch.distributed as dist\n"
            f'dist.init_process_group({_BACKEND}, init_method="env://")\n',
        ),
        Case(
            "import torch\nfrom torch.distributed import init_process_group\n"
            'kind = "nccl"\ninit_process_group(backend=kind)\n',
            lines=(3,),
            fixed="import torch\nfrom torch.distributed import init_process_group\n"
            f"kind = {_BACKEND}\ninit_process_group(backend=kind)\n",
        ),
        Case(
            "import torch.distributed as dist\n"
            'g = dist.new_group(ranks, backend="cpu:gloo,cuda:nccl")\n',
            lines=(2,),
        ),
        Case("import torch.distributed as dist\nb = dist.Backend.NCCL\n", lines=(2,)),
        Case(
            "import torch.distributed as dist\nassert dist.is_nccl_available(), 'NCCL'\n",
            lines=(2,),
        ),
        Case(
            'strategy = DDPStrategy(process_group_backend="nccl")\n',
            lines=(1,),
            severity=Severity.ERROR,
        ),
        Case('vendor = "nvidia"\ndist_backend = "nccl"\n', lines=(2,), severity=Severity.WARNING),
        Case(
            "import argparse\np = argparse.ArgumentParser()\n"
            'p.add_argument("--dist-backend", default="nccl", type=str)\n',
            lines=(3,),
            severity=Severity.WARNING,
        ),
        Case(
            "import os\nbackend = os.environ.get('DIST_BACKEND', 'nccl')\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            'x = x.to(f"cuda:{rank}") if backend == "nccl" else x\n',
            lines=(1,),
            severity=Severity.WARNING,
        ),
        Case(
            "train:\n  dist_backend: nccl\n",
            filename="conf.yaml",
            lines=(2,),
            columns=(17,),
            severity=Severity.WARNING,
        ),
        Case(
            "torchrun train.py --dist-backend nccl\n",
            filename="run.sh",
            lines=(1,),
            severity=Severity.WARNING,
        ),
    ),
)


@RULE.module
def check(module: Module) -> Iterator[Hit]:
    """Find the backend where it is given to a group, or kept under a name for one."""
    given = {p.node: p for p in groups.backends_given(module) if groups.is_nccl(p.value)}
    for node, possible in given.items():
        severity = Severity.WARNING if groups.is_open(possible) else Severity.ERROR
        yield from _hit(node, severity, module)
    for constant in module.strings:
        if not groups.is_nccl(constant.value) or constant in given:
            continue
        if groups.is_backend(constant, module):
            yield from _hit(constant, _kept(constant, module), module)
        elif _skips_move(constant, module):
            yield module.hit(
                constant,
                "the backend on a TPU is not nccl: what is moved in this arm stays on the CPU",
                "decide by the device, not by the backend",
                severity=Severity.WARNING,
                cause="arm",
            )


@RULE.use("torch.distributed.Backend.NCCL")
def check_attribute(node: ast.expr, _: str, module: Module) -> Iterator[Hit]:
    """Find the backend by its attribute, comparisons and other names for it excepted."""
    parent = module.parent(node)
    renamed = isinstance(parent, ast.Assign) and getattr(parent.targets[0], "id", "") == "NCCL"
    if not isinstance(parent, ast.Compare) and not renamed:
        yield from _hit(node, Severity.ERROR, module)


@RULE.use("torch.distributed.is_nccl_available")
def check_demand(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find programs that stop without NCCL."""
    asked = module.reach(node).dead or groups.is_under_nccl(node, module)
    if guard_of(node, module) is Guarded.DEMAND and not asked:
        yield module.hit(node, f"`{name}` is false on a TPU, and this code demands it", _ADVICE)


@RULE.document()
def check_document(document: Document) -> Iterator[Hit]:
    """Find the backend in configs and in arguments of commands."""
    for key in _KEYS:
        for entry in document.keyed(key):
            if groups.is_nccl(entry.value):
                yield document.hit(entry.span, _MESSAGE, _ADVICE, severity=Severity.WARNING)
    for command in document.commands:
        word = command.option(*_OPTIONS)
        if word is not None and groups.is_nccl(word.text):
            yield document.hit(word.span, _MESSAGE, _ADVICE, severity=Severity.WARNING)


def _hit(node: ast.expr, severity: Severity, module: Module) -> Iterator[Hit]:
    if not module.reach(node).dead and not groups.is_under_nccl(node, module):
        fix = _fix(node, module) if severity is Severity.ERROR else None
        yield module.hit(node, _MESSAGE, _ADVICE, fix=fix, severity=severity)


def _kept(node: ast.expr, module: Module) -> Severity:
    """Return what a backend counts that no process group of this file is seen to take."""
    parent = module.parent(groups.outermost(node, module))
    call = module.parent(parent) if isinstance(parent, ast.keyword) else None
    strategy = isinstance(parent, ast.keyword) and parent.arg == "process_group_backend"
    return Severity.ERROR if strategy and isinstance(call, ast.Call) else Severity.WARNING


def _skips_move(node: ast.expr, module: Module) -> bool:
    """Tell whether a comparison decides that a tensor is moved to CUDA."""
    choice = groups.decides(node, module)
    if choice is None or module.reach(choice).dead:
        return False
    body = choice.body if isinstance(choice.body, list) else [choice.body]
    moves = {n for part in body for n in descend(part) if isinstance(n, ast.Call)}
    if any(getattr(call.func, "attr", "") == "cuda" for call in moves):
        return True
    return any(
        sink.call in moves and sink.kind is SinkKind.TO and any(map(is_cuda, values))
        for sink in module.sinks
        for values in (module.value(sink.node),)
    )


def _fix(node: ast.expr, module: Module) -> Fix | None:
    if not isinstance(node, ast.Constant) or str(node.value).lower() != "nccl":
        return None
    return repair.fix(module, Applicability.UNSAFE, module.edit(node, repair.backend(module)))
