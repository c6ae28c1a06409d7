"""TPA211: names and properties of CUDA devices."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api import symbol_text
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.table import cuda_symbols, names_of
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_NAMES = names_of("TPA211")
_FIELDS = (
    *("major", "minor", "warp_size", "gcnArchName", "max_threads_per_multi_processor"),
    *("regs_per_multiprocessor", "shared_memory_per_block", "shared_memory_per_multiprocessor"),
    *("shared_memory_per_block_optin", "L2_cache_size", "is_integrated", "is_multi_gpu_board"),
    *("clock_rate", "memory_clock_rate", "memory_bus_width", "pci_bus_id", "pci_device_id"),
)
"""Fields of a CUDA device's properties that a TPU's lack."""

RULE = Rule(
    code="TPA211",
    name="cuda-device-properties",
    severity=Severity.ERROR,
    words=("get_device_properties", "get_device_name"),
    docs=Docs(
        what="Finds `torch.cuda.get_device_properties`, `torch.cuda.get_device_name`, and fields "
        "of device properties that only CUDA's have.",
        why="On a TPU both calls raise. The properties of a TPU are its name, its memory and a "
        "processor count of 1: no `major`, no `warp_size`, no cache sizes.",
        example="sms = torch.cuda.get_device_properties(0).multi_processor_count\n"
        'if "A100" in torch.cuda.get_device_name():\n    batch = 64',
        instead="Ask for CUDA's properties on CUDA alone, and make sizes an option of the user.",
        references=(
            "https://docs.pytorch.org/docs/stable/cuda.html",
            "https://pypi.org/project/torch-tpu/",
        ),
    ),
    valid=(
        Case("import torch\nfree, total = torch.accelerator.get_memory_info()\n"),
        Case(
            "import torch\nif torch.cuda.is_available():\n"
            "    print(torch.cuda.get_device_name(0))\n"
        ),
        Case("import pynvml\nprops = client.get_device_properties(0)\nprint(props.name)\n"),
        Case("import sys\nprint(sys.version_info.major, get_device_name())\n"),
    ),
    invalid=(
        Case(
            "import torch\nname = torch.cuda.get_device_name(0)\nfast = 'A100' in name\n",
            lines=(2,),
        ),
        Case(
            "from torch import cuda\nmem = cuda.get_device_properties(dev).total_memory\n",
            lines=(2,),
        ),
        Case(
            "import torch\nprops = torch.get_device_module(d).get_device_properties(d)\n"
            "warps = 4 * props.warp_size\n",
            lines=(3,),
        ),
        Case(
            "import torch\ntry:\n    print(torch.cuda.get_device_name())\nexcept Exception:\n"
            "    print('no GPU')\n",
            lines=(3,),
            severity=Severity.WARNING,
        ),
    ),
)


@RULE.call(*_NAMES)
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find the calls."""
    symbol = cuda_symbols()[name]
    yield module.hit(
        call.func,
        symbol_text.message(symbol, symbol.name),
        "ask on CUDA alone; for memory write `torch.accelerator.get_memory_info`",
        severity=symbol_text.severity(symbol, call, module),
    )


@RULE.attribute(*_FIELDS)
def check_field(attribute: ast.Attribute, module: Module) -> Iterator[Hit]:
    """Find fields of properties that some other device's module gave."""
    if any(_is_portable(value, module) for value in _values(attribute.value, module)):
        yield module.hit(
            attribute,
            f"the properties of a TPU have no `{attribute.attr}`: AttributeError",
            "read it on CUDA alone",
        )


def _values(node: ast.expr, module: Module) -> list[ast.expr | None]:
    if isinstance(node, ast.Name):
        return [binding.value for binding in module.scopes.bindings(node)]
    return [node]


def _is_portable(node: ast.expr | None, module: Module) -> bool:
    """Tell whether a call asks a module other than ``torch.cuda`` for properties."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "get_device_properties"
        and not module.is_named(node.func, *_NAMES)
        and (
            isinstance(node.func.value, ast.Call)
            or module.is_named(node.func, "torch.tpu.get_device_properties")
        )
    )
