"""TPA203: functions that the module of a TPU device does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api.device_module import SUBMODULES, uses_of_device_module
from tpu_audit.rules.cuda_api.guarding import replace_call
from tpu_audit.rules.cuda_api.roles import call_of, is_probed
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.table import cuda_symbols, tpu_names
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_ACCELERATOR = "torch.accelerator."

_RARE = frozenset(
    {"graph", "CUDAGraph", "graph_pool_handle", "MemPool", "MemPoolContext", "use_mem_pool"}
)
"""What other devices do not have either: code that takes it has asked for it before."""

RULE = Rule(
    code="TPA203",
    name="device-module-function",
    severity=Severity.ERROR,
    words=("get_device_module", "getattr(torch*", "getattr(th*"),
    docs=Docs(
        what="Finds functions taken from `getattr(torch, device.type)` or "
        "`torch.get_device_module(device)` that `torch.tpu` does not have, or keeps to itself.",
        why="The idiom looks portable, but `torch.tpu` has no `empty_cache`, no memory counters "
        "and no capability: AttributeError. Others, such as `synchronize` and `device_count`, "
        'are there and raise "internal to TorchTPU" when code outside PyTorch calls them.',
        example='if device.type != "cpu":\n    getattr(torch, device.type).empty_cache()',
        instead="if torch.accelerator.is_available():\n    torch.accelerator.empty_cache()",
        fix_safety="Safe for a statement of its own, which is put under "
        "`if torch.accelerator.is_available():`. Unsafe elsewhere: `torch.accelerator` raises on "
        "a host without an accelerator, where `torch.cpu` may answer.",
        references=(
            "https://docs.pytorch.org/docs/stable/accelerator.html",
            "https://docs.pytorch.org/docs/stable/generated/torch.get_device_module.html",
        ),
    ),
    valid=(
        Case("import torch\ntorch.accelerator.empty_cache()\n"),
        Case("import torch\ndtype = getattr(torch, config.dtype)\nx.to(dtype)\n"),
        Case(
            "import torch\nmod = torch.get_device_module(device)\n"
            'if hasattr(mod, "empty_cache"):\n    mod.empty_cache()\n'
        ),
        Case(
            'import torch\nif device.type == "cuda":\n'
            "    getattr(torch, device.type).empty_cache()\n"
        ),
        Case(
            "import torch\ndef f(device):\n    if device not in ('cuda', 'npu', 'xpu'):\n"
            "        raise ValueError(device)\n    getattr(torch, device).set_device(0)\n"
        ),
        Case(
            "import torch\ndef f(device):\n    if device.type not in ('cuda', 'xpu'):\n"
            "        raise ValueError(device)\n    torch.get_device_module(device).synchronize()\n"
        ),
        Case("import torch\nwith getattr(torch, device.type).stream(s):\n    pass\n"),
        Case('import torch\nfree = getattr(torch.get_device_module(), "empty_cache", None)\n'),
    ),
    invalid=(
        Case(
            "import torch\nif device.type != 'cpu':\n"
            "    getattr(torch, device.type).empty_cache()\n",
            lines=(3,),
            fixed="import torch\nif device.type != 'cpu':\n"
            "    if torch.accelerator.is_available():\n"
            "        torch.accelerator.empty_cache()\n",
        ),
        Case(
            "import torch\nn = torch.get_device_module(dev).device_count()\n",
            lines=(2,),
            fixed="import torch\nn = torch.accelerator.device_count()\n",
        ),
        Case(
            "import torch\nclass Runner:\n    def __init__(self, device):\n"
            "        self.api = getattr(torch, device.type, torch.cuda)\n"
            "    def peak(self):\n        return self.api.max_memory_allocated()\n",
            lines=(6,),
            fixed="import torch\nclass Runner:\n    def __init__(self, device):\n"
            "        self.api = getattr(torch, device.type, torch.cuda)\n"
            "    def peak(self):\n        return torch.accelerator.max_memory_allocated()\n",
        ),
        Case(
            "import torch\ndevice_type = detect()\nsync = getattr(getattr(torch, device_type), "
            '"synchronize")\nsync()\n',
            lines=(3,),
            fixed="import torch\ndevice_type = detect()\nsync = torch.accelerator.synchronize\n"
            "sync()\n",
        ),
        Case(
            "import torch\ndef api(device):\n    return getattr(torch, f'{device.type}')\n"
            "total = api(dev).memory_reserved()\n",
            lines=(4,),
        ),
        Case(
            "import torch\ndef pool(p):\n    return torch.get_device_module().use_mem_pool(p)\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\nclass Agent:\n    def scaler(self):\n"
            "        return getattr(torch, self.device.type).amp.GradScaler()\n",
            lines=(4,),
        ),
        Case(
            "import torch\nkind = model.device.type\nmod = getattr(torch, kind, torch.cpu)\n"
            "mod.reset_peak_memory_stats()\n",
            lines=(4,),
        ),
        Case("import torch\ncap = torch.get_device_module().get_device_capability()\n", lines=(2,)),
    ),
)


@RULE.module
def check(module: Module) -> Iterator[Hit]:
    """Find the functions, those excepted whose existence is asked for before."""
    for node, name in uses_of_device_module(module):
        if not is_probed(node, name, module):
            yield _hit(node, name, module)


def _hit(node: ast.expr, name: str, module: Module) -> Hit:
    internal = name in tpu_names()
    replacement = tpu_names()[name].replacement if internal else _of_cuda(name)
    effect = "is internal to TorchTPU and raises when called" if internal else "does not exist"
    caught = module.context(node).caught
    severity = Severity.WARNING if caught else None
    return module.hit(
        node,
        f"on a TPU this module is `torch.tpu`, where `{name}` {effect}",
        f"write `{replacement}`" if replacement else "leave it out on a TPU",
        fix=_fix(node, replacement, module),
        severity=Severity.INFO if name in _RARE else severity,
        cause=name,
    )


def _of_cuda(name: str) -> str | None:
    return None if name in SUBMODULES else cuda_symbols()[f"torch.cuda.{name}"].replacement


def _fix(node: ast.expr, replacement: str | None, module: Module) -> Fix | None:
    if replacement is None or not replacement.startswith(_ACCELERATOR):
        return None
    new = repair.torch_name(module) + replacement.removeprefix("torch")
    call = call_of(node, module)
    if call is None or call.args or call.keywords:
        return repair.fix(module, Applicability.UNSAFE, module.edit(node, new))
    return replace_call(call, f"{new}()", module)
