"""TPA202: memory of CUDA devices."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api import symbol_text
from tpu_audit.rules.cuda_api.device_module import is_of_device_module
from tpu_audit.rules.cuda_api.guarding import replace_call
from tpu_audit.rules.cuda_api.roles import call_of, is_probed, is_told
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.table import OnTpu, Symbol, cuda_symbols, names_of
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_NAMES = names_of("TPA202")
_SWITCHES = frozenset({"torch.cuda.caching_allocator_enable"})
_OTHER_KEYS = frozenset({"torch.cuda.memory_summary", "torch.cuda.memory_stats_as_nested_dict"})
"""What they return is not what their replacement returns."""

RULE = Rule(
    code="TPA202",
    name="cuda-memory",
    severity=Severity.ERROR,
    words=tuple(name.rpartition(".")[2] for name in _NAMES),
    docs=Docs(
        what="Finds the memory functions of `torch.cuda`: `empty_cache`, `memory_allocated`, "
        "`mem_get_info`, `reset_peak_memory_stats` and the rest.",
        why="They know CUDA's allocator alone. On a TPU the counters are 0 and `empty_cache` frees "
        "nothing, without a message; `mem_get_info`, the resets, pools and snapshots raise.",
        example="torch.cuda.reset_peak_memory_stats()\npeak = torch.cuda.max_memory_allocated()",
        instead="torch.accelerator.reset_peak_memory_stats()\n"
        "peak = torch.accelerator.max_memory_allocated()",
        fix_safety="Safe for a statement of its own, which is put under "
        "`if torch.accelerator.is_available():`. Unsafe elsewhere: the functions of "
        "`torch.accelerator` raise on a host without an accelerator, where those of `torch.cuda` "
        "answer 0.",
        references=(
            "https://docs.pytorch.org/docs/stable/accelerator.html",
            "https://docs.pytorch.org/docs/stable/torch_cuda_memory.html",
        ),
    ),
    valid=(
        Case(
            "import torch\nif torch.accelerator.is_available():\n"
            "    torch.accelerator.empty_cache()\n"
        ),
        Case("import psutil\nused = psutil.virtual_memory().used\nempty_cache()\n"),
        Case('import torch\n"""Call torch.cuda.empty_cache()."""\n# torch.cuda.empty_cache()\n'),
        Case(
            "class Pool:\n    def memory_allocated(self):\n        return self.n\n"
            "Pool().memory_allocated()\n"
        ),
        Case("import cupy\ncupy.cuda.MemPool().free_bytes()\n"),
        Case("import torch\nif torch.cuda.is_available():\n    torch.cuda.empty_cache()\n"),
    ),
    invalid=(
        Case(
            "import torch\nfrom .wrapper import Wrapper\ntorch.cuda.empty_cache()\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\ndef free():\n    torch.cuda.empty_cache()  # now\n",
            lines=(3,),
            severity=Severity.WARNING,
            fixed="import torch\ndef free():\n    if torch.accelerator.is_available():\n"
            "        torch.accelerator.empty_cache()  # now\n",
        ),
        Case(
            "import torch as th\nfrom torch import cuda\n"
            "free, total = cuda.mem_get_info(device=0)\n",
            lines=(3,),
            severity=Severity.ERROR,
            fixed="import torch as th\nfrom torch import cuda\n"
            "free, total = th.accelerator.get_memory_info()\n",
        ),
        Case(
            "import torch\npeak = torch.cuda.max_memory_allocated(device) / 2**30\n",
            lines=(2,),
            severity=Severity.WARNING,
            fixed="import torch\npeak = torch.accelerator.max_memory_allocated(device) / 2**30\n",
        ),
        Case(
            "from torch.cuda.memory import _record_memory_history\n"
            "_record_memory_history(max_entries=100000)\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "import torch\ntry:\n    print(torch.cuda.memory_summary())\nexcept Exception:\n"
            "    pass\n",
            lines=(3,),
            severity=Severity.WARNING,
        ),
        Case(
            "import torch\nif torch.accelerator.is_available():\n"
            "    torch.cuda.reset_max_memory_allocated()\n",
            lines=(3,),
            fixed="import torch\nif torch.accelerator.is_available():\n"
            "    torch.accelerator.reset_peak_memory_stats()\n",
        ),
    ),
)


@RULE.use(*_NAMES)
def check(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find uses, those excepted that a test for the name's existence guards."""
    symbol = cuda_symbols()[name]
    if is_probed(node, name.rpartition(".")[2], module) or is_of_device_module(node, module):
        return
    yield module.hit(
        node,
        symbol_text.message(symbol, symbol.name),
        symbol_text.advice(symbol),
        fix=_fix(node, symbol, module),
        severity=_severity(symbol, node, module),
    )


def _severity(symbol: Symbol, node: ast.expr, module: Module) -> Severity:
    quiet = symbol.on_tpu is not OnTpu.NOTHING or symbol.name in _SWITCHES
    if quiet or is_told(node, module):
        return symbol_text.severity(symbol, node, module)
    return Severity.INFO if _is_at_import(node, module) else Severity.WARNING


def _is_at_import(node: ast.expr, module: Module) -> bool:
    """Tell what a package's file calls when it is imported: there is nothing to free yet."""
    context = module.context(node)
    of_package = any(statement.level for statement in module.index.of(ast.ImportFrom))
    return of_package and context.function is None and not context.loop_depth


def _fix(node: ast.expr, symbol: Symbol, module: Module) -> Fix | None:
    """Write the replacement over a call or a reference that a TPU may reach."""
    if symbol.replacement is None or symbol.name in _OTHER_KEYS or module.reach(node).dead:
        return None
    new = repair.torch_name(module) + symbol.replacement.removeprefix("torch")
    call = call_of(node, module)
    if call is None:
        return repair.fix(module, Applicability.UNSAFE, module.edit(node, new))
    return replace_call(call, f"{new}({_device(call, module)})", module)


def _device(call: ast.Call, module: Module) -> str:
    """Return the device that a call names as argument; none where it is one of CUDA's."""
    given = [*call.args, *(k.value for k in call.keywords if k.arg == "device")][:1]
    if not given or module.value(given[0]):
        return ""
    return module.code(given[0])
