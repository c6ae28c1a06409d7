"""TPA604: custom ops whose implementation is CUDA's alone."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.python.upkeep import on_host
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_KNOWN = frozenset(
    {
        *("aten", "prim", "prims", "c10d", "_c10d_functional", "c10d_functional", "tpu", "fsdp"),
        *("higher_order", "inductor", "debugprims", "rngprims", "streams", "torchao", "profiler"),
        *("_c10d_functional_autograd", "quantized_decomposed", "dtensor", "_dtensor", "export"),
        *("torch_tpu", "load_library", "loaded_libraries", "import_module", "quantized", "xla"),
        *("torchvision", "image", "torchaudio", "sparse", "mkldnn", "onednn", "mkl", "symm_mem"),
        *("transformers", "helion", "test", "mylib", "onnx", "executorch", "coreml", "vulkan"),
    }
)
"""Namespaces of PyTorch's own, and those that other parts of a report judge."""
_WRAPS = re.compile(r"flash_?attn|flash_?attention|sage_?attn|flashinfer|xformers|cutlass")
"""Ops that stand for a library's CUDA kernels: the code around chooses the library first."""
_GENERAL = ("CompositeExplicitAutograd", "CompositeImplicitAutograd", "PrivateUse1", "", "tpu")

RULE = Rule(
    code="TPA604",
    name="cuda-only-op",
    severity=Severity.ERROR,
    words=("custom_op", "impl", "register_kernel", "ops"),
    docs=Docs(
        what='Finds ops registered for "cuda" alone through `torch.library`, and calls of ops '
        "under `torch.ops` from a namespace that only a compiled library can define.",
        why="The dispatcher finds no kernel for TPU tensors and raises.",
        example='@torch.library.custom_op("my::op", mutates_args=(), device_types="cuda")\n'
        "def op(x: torch.Tensor) -> torch.Tensor: ...",
        instead='@torch.library.custom_op("my::op", mutates_args=())\n'
        "def op(x: torch.Tensor) -> torch.Tensor: ...",
        references=("https://docs.pytorch.org/docs/stable/library.html",),
    ),
    valid=(
        Case(
            "import torch\n\n@torch.library.custom_op('my::op', mutates_args=())\n"
            "def op(x: torch.Tensor) -> torch.Tensor: ...\n\ntorch.ops.my.op(x)\n"
        ),
        Case("import torch\ny = torch.ops.aten.add(x, 1)\n"),
        Case(
            "import torch\nlib = torch.library.Library('my', 'DEF')\n"
            "lib.impl('op', fast, 'CUDA')\nlib.impl('op', plain, 'CompositeExplicitAutograd')\n"
        ),
        Case("import torch\nout = torch.ops.my_ext.run(x) if x.is_cuda else plain(x)\n"),
        Case("registry.impl('op', run, 'CUDA')\n"),
    ),
    invalid=(
        Case(
            "import torch\n\n"
            "@torch.library.custom_op('my::op', mutates_args=(), device_types='cuda')\n"
            "def op(x: torch.Tensor) -> torch.Tensor: ...\n",
            lines=(3,),
            severity=Severity.ERROR,
        ),
        Case(
            "from torch.library import Library\nlib = Library('my', 'DEF')\n"
            "lib.impl('op', fast, dispatch_key='CUDA')\n",
            lines=(3,),
        ),
        Case(
            "import torch\n\n@torch.library.custom_op('my_flash_attn_3::forward', mutates_args=(),"
            " device_types='cuda')\ndef op(x: torch.Tensor) -> torch.Tensor: ...\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\nlib = torch.library.Library('my', 'DEF')\n\n"
            "@torch.library.impl(lib, 'op', 'CUDA')\ndef op(x): ...\n",
            lines=(4,),
        ),
        Case("import torch\n\n@torch.library.impl('my::op', 'cuda')\ndef op(x): ...\n", lines=(3,)),
        Case(
            "import torch\nout = torch.ops.my_kernels.rms_norm(x, w)\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "import torch\nout = torch.ops.quanto.mm(x, w)\n",
            filename="optimum/quanto/tensor.py",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "from torch import ops\nops.load_library('libops.so')\nops.block.run.default(x)\n",
            lines=(3,),
        ),
    ),
)


@RULE.call("torch.library.custom_op", "torch.library.impl", "torch.library.register_kernel")
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find registrations by functions of ``torch.library``."""
    given = call.args
    if name == "torch.library.impl" and given and _is_library(given[0], module):
        given = given[1:]
    place = 1 if name != "torch.library.custom_op" else 2
    types = keyword(call, "device_types", "types", "dispatch_key")
    if types is None and len(given) > place:
        types = given[place]
    if types is not None and given:
        yield from _registration(call, given[0], types, module)


@RULE.method("impl")
def check_library(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find ``lib.impl("op", function, "CUDA")``."""
    key = keyword(call, "dispatch_key") or (call.args[2] if len(call.args) > 2 else None)  # noqa: PLR2004 - the third
    if key is not None and call.args and _is_library(receiver, module):
        yield from _registration(call, call.args[0], key, module)


def _is_library(node: ast.expr, module: Module) -> bool:
    values = [b.value for b in module.scopes.bindings(node)] if isinstance(node, ast.Name) else []
    values += module.classes.stored(node) if isinstance(node, ast.Attribute) else []
    return any(
        isinstance(value, ast.Call) and module.is_named(value.func, "torch.library.Library")
        for value in values
    )


def _registration(call: ast.Call, op: ast.expr, types: ast.expr, module: Module) -> Iterator[Hit]:
    devices = {text for node in _items(types, module) for text in module.value(node).strings()}
    if devices and all(device.lower() == "cuda" for device in devices):
        names = module.value(op).strings()
        if not _has_general(names, module):
            yield module.hit(
                call,
                f"`{names[0] if names else 'the op'}` has a kernel for CUDA alone: with TPU "
                "tensors it raises",
                "leave the device out, or register a second implementation in torch ops",
                severity=Severity.INFO if any(_WRAPS.search(name) for name in names) else None,
            )


def _items(node: ast.expr, module: Module) -> list[ast.expr]:
    return module.elements(node) or [node]


def _has_general(names: tuple[str, ...], module: Module) -> bool:
    """Tell whether the file registers the op in a way that TPU tensors reach, too."""
    for use in (*module.index.attributes.get("impl", ()), *module.index.names.get("impl", ())):
        other = module.parent(use)
        if isinstance(other, ast.Call) and other.args:
            same = set(module.value(other.args[0]).strings()) & set(names)
            texts = [
                t
                for a in (*other.args[1:], *(k.value for k in other.keywords))
                for t in module.value(a).strings()
            ]
            if same and (not texts or any(text in _GENERAL for text in texts)):
                return True
    return False


@RULE.use("torch.ops.*")
def check_use(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find calls of ops from namespaces that no PyTorch has and the file does not define."""
    parts = name.split(".")
    space = parts[2]
    called = isinstance(module.parent(node), ast.Call)
    if on_host(node, module):
        return
    if len(parts) > 3 and called and space not in _KNOWN and not _defines(space, module):  # noqa: PLR2004 - torch.ops.space.op
        yield module.hit(
            node,
            f"`torch.ops.{space}` comes from a compiled library: its ops have no kernel for TPU "
            "tensors unless it brings one",
            "give the op an implementation in torch ops through `torch.library`",
            severity=Severity.INFO if space in module.path else Severity.WARNING,
            cause=f"ops of `torch.ops.{space}`",
        )


def _defines(space: str, module: Module) -> bool:
    """Tell whether the file registers ops in a namespace."""
    texts = (constant.value for constant in module.strings)
    return any(
        text == space or (isinstance(text, str) and text.startswith(f"{space}::")) for text in texts
    )
