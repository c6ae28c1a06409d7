"""TPA223: several devices in one process by ``DataParallel``, and ``device_ids`` of DDP."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability, Edit, Fix
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_PARALLEL = "torch.nn.parallel."
_DDP_PAGE = (
    "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html"
)
_DEVICES = frozenset({"device_ids", "output_device"})

_WRAPPED = re.compile(r"isinstance\(.*DataParallel\)$")
_SEVERAL = re.compile(r"\bn(?:um)?_gpus? > 1\b")
"""A test for several GPUs, as PyTorch counts them for CUDA."""

RULE = Rule(
    code="TPA223",
    name="data-parallel",
    severity=Severity.ERROR,
    words=(
        *("DataParallel", "data_parallel", "DistributedDataParallel", "DDP"),
        *("replicate", "parallel_apply", "scatter", "gather"),
    ),
    docs=Docs(
        what="Finds `torch.nn.DataParallel` and the functions that it is made of (`replicate`, "
        "`scatter`, `parallel_apply`, `gather`), and `DistributedDataParallel` with `device_ids`.",
        why="A process on a TPU has one device, index 0. `DataParallel` finds nothing to "
        "parallelise over, and fails where it is told of more devices. `DistributedDataParallel` "
        "sends inputs to the index in `device_ids`, which does not exist for any rank but 0.",
        example="model = DDP(model, device_ids=[local_rank], output_device=local_rank)",
        instead="model = DDP(model)",
        fix_safety="Unsafe: without `device_ids` DDP does not move inputs to the device.",
        references=(
            _DDP_PAGE,
            "https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html",
        ),
    ),
    valid=(
        Case(
            "import torch\nif isinstance(model, torch.nn.DataParallel):\n"
            "    model = torch.nn.DataParallel(restore(model.module))\n"
        ),
        Case(
            "import torch.nn as nn\nif self.args.n_gpu > 1 and not quantised:\n"
            "    model = nn.DataParallel(model)\n"
        ),
        Case("from torch.nn.parallel import DistributedDataParallel as DDP\nm = DDP(m)\n"),
        Case("import torch\nif isinstance(m, torch.nn.DataParallel):\n    m = m.module\n"),
        Case(
            "from torch.nn.parallel import DistributedDataParallel as DDP\nimport torch\n"
            "m = DDP(m, device_ids=[rank] if torch.cuda.is_available() else None)\n"
        ),
        Case("from paddle import DataParallel\nm = DataParallel(m)\n"),
        Case(
            "from torch.nn.parallel import DistributedDataParallel\n"
            "m = DistributedDataParallel(m, device_ids=None, find_unused_parameters=True)\n"
        ),
        Case(
            "import torch\nif torch.cuda.device_count() > 1:\n"
            "    model = torch.nn.DataParallel(model)\n"
        ),
    ),
    invalid=(
        Case(
            "from torch.nn.parallel import DistributedDataParallel as DDP\n"
            "options = dict(device_ids=[rank])\nmodel = DDP(model, **options)\n"
            "other = DDP(other, [rank], rank)\n",
            lines=(2, 4),
        ),
        Case(
            "from torch.nn.parallel import DistributedDataParallel as DDP\n"
            "model = DDP(model, device_ids=[rank], output_device=rank, bucket_cap_mb=10)\n",
            lines=(2,),
            columns=(20,),
            fixed="from torch.nn.parallel import DistributedDataParallel as DDP\n"
            "model = DDP(model, bucket_cap_mb=10)\n",
        ),
        Case(
            "import torch\nnet = torch.nn.parallel.DistributedDataParallel(\n    net,\n"
            "    device_ids=[args.gpu],\n)\n",
            lines=(4,),
            fixed="import torch\nnet = torch.nn.parallel.DistributedDataParallel(\n    net,\n)\n",
        ),
        Case(
            "from torch.nn.parallel import DistributedDataParallel as DDP\n"
            "a = DDP(a, device_ids=[self.device])\nb = DDP(b, device_ids=[device.index])\n",
            lines=(2, 3),
            severity=Severity.INFO,
        ),
        Case(
            "from torch.nn.parallel import DistributedDataParallel as DDP\ndevice = local_rank\n"
            "a = DDP(a, device_ids=[device])\n",
            lines=(3,),
            severity=Severity.ERROR,
        ),
        Case(
            "import torch.nn as nn\nmodel = nn.DataParallel(model)\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "from torch import nn\nmodel = nn.DataParallel(model, device_ids=[0, 1])\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "from torch.nn.parallel import data_parallel\ny = data_parallel(m, x, range(2))\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "import torch.nn as nn\nnets = nn.parallel.replicate(net, [0, 1])\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
    ),
)


@RULE.call(_PARALLEL + "DataParallel", _PARALLEL + "data_parallel")
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find single-process parallelism: an error where it names devices."""
    place = 1 if name.endswith("DataParallel") else 2
    named = keyword(call, "device_ids") or (call.args[place] if len(call.args) > place else None)
    told = named is not None and not _is_none(named, module)
    if not told and _is_for_several(call, module):
        return
    yield module.hit(
        call.func,
        f"a process on a TPU has one device: `{name}` has nothing to parallelise over",
        "run one process a chip with `DistributedDataParallel` or `fully_shard`",
        severity=None if told else Severity.WARNING,
        cause="DataParallel",
    )


@RULE.call(*(_PARALLEL + part for part in ("replicate", "scatter", "parallel_apply", "gather")))
def check_part(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find the steps of single-process parallelism, written out."""
    yield module.hit(
        call.func,
        f"`{name}` is for several devices in a process: a TPU's process has one",
        "run one process a chip with `DistributedDataParallel` or `fully_shard`",
        cause="DataParallel",
    )


@RULE.call(_PARALLEL + "DistributedDataParallel")
def check_ids(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find devices named to DDP."""
    arguments = [k for k in call.keywords if k.arg in _DEVICES and _is_live(k.value, module)]
    given: list[ast.keyword | ast.expr] = [*arguments, *_given_otherwise(call, module)]
    if given:
        first = given[0].value if isinstance(given[0], ast.keyword) else given[0]
        severity, message = _judged(first, module)
        yield module.hit(
            given[0],
            message,
            f"call `{name.rpartition('.')[2]}(model)` without devices",
            fix=_fix(call, arguments, module) if arguments == given else None,
            severity=severity,
            cause="device_ids",
        )


def _is_for_several(node: ast.AST, module: Module) -> bool:
    """Tell whether ``if n_gpu > 1:`` guards ``node``: a process on a TPU counts no GPUs.

    So with a test for a model that is wrapped already.
    """
    child, parent = node, module.parent(node)
    while parent is not None and not isinstance(parent, ast.FunctionDef):
        guards = isinstance(parent, ast.If) and child in parent.body
        test = module.code(parent.test) if guards and isinstance(parent, ast.If) else ""
        if _SEVERAL.search(test) or _WRAPPED.match(test):
            return True
        child, parent = parent, module.parent(parent)
    return False


def _given_otherwise(call: ast.Call, module: Module) -> list[ast.expr]:
    """Return devices that are given by place, or in a dict of options."""
    found = list(call.args[1:2])
    for argument in call.keywords:
        if argument.arg is None:
            found += module.dicts.entries(argument.value, {"device_ids"})
    live = [node for node in found if not isinstance(node, ast.Starred)]
    return [node for node in live if _is_live(node, module) and not module.reach(node).dead]


def _is_none(node: ast.expr, module: Module) -> bool:
    values = module.value(node)
    return bool(values) and values.complete and all(p.value is None for p in values)


def _is_live(node: ast.expr, module: Module) -> bool:
    """Tell whether a TPU takes a device here: not None, and not in the arm of CUDA."""
    if isinstance(node, ast.IfExp):
        truth = module.truth(node.test)
        arms = [node.body, node.orelse] if truth is None else [node.body if truth else node.orelse]
        return any(_is_live(arm, module) for arm in arms)
    if isinstance(node, ast.Name):
        values = [b.value for b in module.scopes.bindings(node)]
        if values and all(v is not None and not _is_live_value(v, module) for v in values):
            return False
    return not _is_none(node, module)


def _is_live_value(node: ast.expr, module: Module) -> bool:
    if module.reach(node).dead:
        return False
    return _is_live(node, module) if isinstance(node, ast.IfExp) else not _is_none(node, module)


def _judged(node: ast.expr, module: Module) -> tuple[Severity | None, str]:
    """Return how much devices cost that are a rank's, index 0, or wherever the model is."""
    if _is_own(node, module):
        return Severity.INFO, "DDP needs no devices on a TPU, where a process has one"
    message = "a process on a TPU has one device, index 0: inputs cannot be sent to this one"
    return Severity.WARNING if _is_first(node, module) else None, message


def _is_own(node: ast.expr, module: Module) -> bool:
    """Tell ``[device]`` and ``[self.device.index]``: right on a TPU as soon as the device is."""
    items = module.elements(node) or [node]
    devices = [
        item.value if isinstance(item, ast.Attribute) and item.attr == "index" else item
        for item in items
    ]
    return len(devices) == 1 and _is_device(devices[0], module)


def _is_device(node: ast.expr, module: Module) -> bool:
    """Tell a device by spelling; ``device = local_rank`` is none."""
    if not module.is_device(node) or (isinstance(node, ast.Attribute) and node.attr == "type"):
        return False
    bound = module.scopes.bindings(node) if isinstance(node, ast.Name) else []
    values = [binding.value for binding in bound if binding.value is not None]
    return all(_makes_device(value, module) for value in values)


def _makes_device(node: ast.expr, module: Module) -> bool:
    return not isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Constant) or (
        module.is_device(node)
    )


def _is_first(node: ast.expr, module: Module) -> bool:
    """Tell whether the devices are that of index 0 alone."""
    items = module.elements(node) or [node]
    return all(isinstance(item, ast.Constant) and item.value == 0 for item in items)


def _fix(call: ast.Call, arguments: list[ast.keyword], module: Module) -> Fix | None:
    """Remove keywords, each with the comma and the space before it."""
    before = [*call.args, *call.keywords]
    data = module.source.encoded
    edits: list[Edit] = []
    for argument in arguments:
        earlier = [node for node in before if module.byte_range(node) < module.byte_range(argument)]
        if not earlier:
            return None
        start = max(module.byte_range(node)[1] for node in earlier)
        end = module.byte_range(argument)[1]
        if data[start:end].count(b"#"):
            return None
        edits.append(Edit(start=start, end=end, text=""))
    return repair.fix(module, Applicability.UNSAFE, *edits)
