"""TPA112: ``torch.load`` that puts tensors on CUDA."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python.devices import SinkKind, is_cuda
from tpu_audit.rules.python.possible import Via
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.devices import DeviceSink
    from tpu_audit.rules.python.module import Module

_OVERRIDDEN = frozenset({Via.DEFAULT, Via.FIELD, Via.OPTION})

RULE = Rule(
    code="TPA112",
    name="cuda-map-location",
    severity=Severity.ERROR,
    words=("cuda",),
    docs=Docs(
        what="Finds CUDA in `map_location`: as a string, a device, a dict, or a function that "
        "calls `.cuda()`.",
        why="Loading raises on a TPU: PyTorch is built without CUDA there.",
        example='state = torch.load(path, map_location="cuda")',
        instead='state = torch.load(path, map_location="cpu")\nmodel.load_state_dict(state)\n'
        "model.to(device)",
        fix_safety="Safe where `load_state_dict` gets what is loaded, which copies it to where the "
        "module's tensors are. Unsafe elsewhere: tensors that were on the GPU stay on the CPU.",
        references=("https://docs.pytorch.org/docs/stable/generated/torch.load.html",),
    ),
    valid=(
        Case('import torch\ns = torch.load(p, map_location="cpu")\n'),
        Case('import torch\ns = torch.load(p, map_location={"cuda:0": "cpu"})\n'),
        Case("import torch\ns = torch.load(p, map_location=lambda storage, loc: storage)\n"),
        Case("import torch\nif torch.cuda.is_available():\n    torch.load(p, 'cuda')\n"),
        Case('import torch\ndevice = "cuda"\ns = torch.load(p, map_location=device)\n'),
    ),
    invalid=(
        Case(
            'import torch\ns = torch.load(p, map_location="cuda:0", weights_only=True)\n',
            lines=(2,),
            columns=(32,),
            fixed='import torch\ns = torch.load(p, map_location="cpu", weights_only=True)\n',
        ),
        Case(
            "from torch import load, device\ns = load(p, device('cuda'))\n",
            lines=(2,),
            fixed='from torch import load, device\ns = load(p, "cpu")\n',
        ),
        Case(
            'sd = torch.load(path, map_location={"cuda:%d" % 0: "cuda:%d" % rank})\n',
            lines=(1,),
            fixed='sd = torch.load(path, map_location="cpu")\n',
        ),
        Case(
            "import torch\ns = torch.load(p, map_location=lambda s, l: s.cuda(0))\n",
            lines=(2,),
            fixed='import torch\ns = torch.load(p, map_location="cpu")\n',
        ),
        Case(
            'import torch\nspot = f"cuda:{rank}"\ns = torch.load(p, map_location=spot)\n',
            lines=(3,),
            fixed='import torch\nspot = f"cuda:{rank}"\ns = torch.load(p, map_location="cpu")\n',
        ),
        Case(
            'import torch\nplaces = {"cuda:0": f"cuda:{rank}"}\n'
            "s = torch.load(p, map_location=places)\n",
            lines=(3,),
            fixed='import torch\nplaces = {"cuda:0": f"cuda:{rank}"}\n'
            's = torch.load(p, map_location="cpu")\n',
        ),
        Case(
            "from torch.hub import load_state_dict_from_url as get\n"
            "s = get(URL, map_location=torch.device('cuda'))\n",
            lines=(2,),
        ),
    ),
)


@RULE.sink(SinkKind.MAP_LOCATION)
def check(sink: DeviceSink, module: Module) -> Iterator[Hit]:
    """Find locations on CUDA; what a device's variable holds is another rule's."""
    if not _is_cuda(sink.node, module):
        return
    yield module.hit(
        sink.node,
        "loading to CUDA raises on a TPU: PyTorch is built without CUDA there",
        'load to `"cpu"`, then move the module',
        fix=module.replace(sink.node, '"cpu"', _level(sink, module)),
        severity=Severity.WARNING if _may_differ(sink.node, module) else None,
    )


def _level(sink: DeviceSink, module: Module) -> Applicability:
    """Return how safe it is to load to the CPU: wholly, if the tensors are copied from there."""
    call = sink.call
    if call is None:
        return Applicability.UNSAFE
    statement = module.parent(call)
    taken: list[ast.expr] = [call]
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        uses = module.index.names[statement.targets[0].id]
        taken = [use for use in uses if isinstance(use.ctx, ast.Load)]
    safe = bool(taken) and all(_is_copied(one, module) for one in taken)
    return Applicability.SAFE if safe else Applicability.UNSAFE


def _is_copied(node: ast.expr, module: Module) -> bool:
    """Tell ``module.load_state_dict(node["model"])`` and its like."""
    child: ast.expr = node
    parent = module.parent(node)
    while isinstance(parent, ast.Subscript) and parent.value is child:
        child, parent = parent, module.parent(parent)
    callee = parent.func if isinstance(parent, ast.Call) and child in parent.args else None
    return isinstance(callee, ast.Attribute) and callee.attr == "load_state_dict"


def _is_cuda(node: ast.expr, module: Module) -> bool:
    mapping = module.dicts.display(node)
    if mapping is not None:
        return any(is_cuda(p) for value in mapping.values for p in module.value(value))
    if isinstance(node, ast.Lambda):
        return is_cuda_function(node)
    if isinstance(node, ast.Name | ast.Attribute) and module.is_device(node):
        return False
    return any(is_cuda(p) and not module.reach(p.node).dead for p in module.value(node))


def is_cuda_function(node: ast.Lambda) -> bool:
    """Tell ``lambda storage, location: storage.cuda()``."""
    body = node.body
    names = {argument.arg for argument in node.args.args[:1]}
    return (
        isinstance(body, ast.Call)
        and isinstance(body.func, ast.Attribute)
        and body.func.attr == "cuda"
        and getattr(body.func.value, "id", "") in names
    )


def _may_differ(node: ast.expr, module: Module) -> bool:
    """Tell whether CUDA is only what a parameter, field or option has unless told."""
    found = [p for p in module.value(node) if is_cuda(p)]
    return bool(found) and all(p.via in _OVERRIDDEN for p in found)
