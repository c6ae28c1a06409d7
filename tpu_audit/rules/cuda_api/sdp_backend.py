"""TPA217: attention kernels chosen for CUDA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_KERNEL = "torch.nn.attention.sdpa_kernel"
_BACKENDS = "torch.backends.cuda."
_PREFIXES = ("torch.nn.attention.SDPBackend.", "torch._C._SDPBackend.")
_ABSENT = frozenset({"EFFICIENT_ATTENTION", "CUDNN_ATTENTION"})
_KEYWORDS = {"enable_flash": "FLASH_ATTENTION", "enable_math": "MATH"}
_REFERENCE = "https://docs.pytorch.org/docs/stable/generated/torch.nn.attention.sdpa_kernel.html"

RULE = Rule(
    code="TPA217",
    name="sdp-backend",
    severity=Severity.ERROR,
    words=("sdpa_kernel", "sdp_kernel", "enable_flash_sdp", "enable_math_sdp"),
    docs=Docs(
        what="Finds `sdpa_kernel` and its older forms where they allow kernels that TPUs lack "
        "only, or switch off the flash kernel.",
        why="Attention on a TPU has a flash kernel and a plain one. With efficient or cuDNN "
        'attention alone it raises "no viable SDPBackend found"; with flash alone it raises for '
        "float16 and some head sizes; without flash, memory grows with the square of the length.",
        example="with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):\n"
        "    y = F.scaled_dot_product_attention(q, k, v)",
        instead="y = F.scaled_dot_product_attention(q, k, v)",
        references=(_REFERENCE,),
    ),
    valid=(
        Case(
            "from torch.nn.attention import sdpa_kernel, SDPBackend\n"
            "with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):\n    f()\n"
        ),
        Case(
            "import torch\ntorch.backends.cuda.enable_flash_sdp(True)\n"
            "torch.backends.cuda.enable_mem_efficient_sdp(False)\n"
        ),
        Case(
            "import torch\nif torch.cuda.is_available():\n"
            "    torch.backends.cuda.enable_flash_sdp(False)\n"
        ),
        Case("from torch.nn.attention import sdpa_kernel\nwith sdpa_kernel(backends):\n    f()\n"),
        Case("import torch\nwith torch.backends.cuda.sdp_kernel(enable_flash=True):\n    f()\n"),
    ),
    invalid=(
        Case(
            "from torch.nn.attention import sdpa_kernel, SDPBackend\n"
            "with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):\n    f()\n",
            lines=(2,),
        ),
        Case(
            "from torch.nn import attention as A\n"
            "ONLY = [A.SDPBackend.CUDNN_ATTENTION, A.SDPBackend.EFFICIENT_ATTENTION]\n"
            "with A.sdpa_kernel(backends=ONLY):\n    f()\n",
            lines=(3,),
        ),
        Case(
            "from torch.nn.attention import sdpa_kernel, SDPBackend as B\n"
            "with sdpa_kernel(B.FLASH_ATTENTION):\n    f()\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "import torch\ntorch.backends.cuda.enable_flash_sdp(False)\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "import torch\ntorch.backends.cuda.enable_math_sdp(False)\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "import torch\nwith torch.backends.cuda.sdp_kernel(enable_flash=False, "
            "enable_math=False,\n                                    "
            "enable_mem_efficient=True):\n    f()\n",
            lines=(2,),
        ),
    ),
)


@RULE.call(_KERNEL)
def check(call: ast.Call, _: str, module: Module) -> Iterator[Hit]:
    """Find choices of kernels by ``sdpa_kernel``."""
    given = call.args[0] if call.args else keyword(call, "backends")
    kinds = _kinds(given, module) if given is not None else frozenset()
    yield from _hits(call, kinds, module)


@RULE.call(_BACKENDS + "sdp_kernel")
def check_old(call: ast.Call, _: str, module: Module) -> Iterator[Hit]:
    """Find choices by the deprecated context manager, whose kernels are on unless switched off."""
    off = {k for word, k in _KEYWORDS.items() if _is_false(keyword(call, word), module)}
    left = frozenset({*_KEYWORDS.values(), *_ABSENT} - off)
    yield from _hits(call, left, module)


@RULE.call(_BACKENDS + "enable_flash_sdp")
def check_switch(call: ast.Call, _: str, module: Module) -> Iterator[Hit]:
    """Find the switch of the flash kernel, where it is turned off."""
    if _is_false(call.args[0] if call.args else keyword(call, "enabled"), module):
        yield from _hits(call, frozenset({"MATH"}), module)


@RULE.call(_BACKENDS + "enable_math_sdp")
def check_plain(call: ast.Call, _: str, module: Module) -> Iterator[Hit]:
    """Find the switch of the plain kernel, where it is turned off."""
    if _is_false(call.args[0] if call.args else keyword(call, "enabled"), module):
        yield from _hits(call, frozenset({"FLASH_ATTENTION"}), module)


def _is_false(node: ast.expr | None, module: Module) -> bool:
    values = module.value(node) if node is not None else ()
    return bool(values) and all(possible.value is False for possible in values)


def _kinds(node: ast.expr, module: Module) -> frozenset[str]:
    """Return the kernels that are allowed; none where they are not all known."""
    nodes = module.elements(node) or [node]
    found = [_kind(item, module) for item in nodes]
    return frozenset(found) if all(found) else frozenset()


def _kind(node: ast.expr, module: Module) -> str:
    names = module.qualified(node)
    kinds = {n.removeprefix(p) for n in names for p in _PREFIXES if n.startswith(p)}
    return min(kinds) if len(kinds) == 1 else ""


def _hits(call: ast.Call, kinds: frozenset[str], module: Module) -> Iterator[Hit]:
    """Report a choice that leaves a TPU no kernel, only one that takes not all, or the slow one."""
    if not kinds:
        return
    there = kinds - _ABSENT
    if not there:
        message = 'no kernel chosen here is a TPU\'s: attention raises "no viable SDPBackend"'
        yield module.hit(call, message, "allow FLASH_ATTENTION and MATH, or leave the choice out")
    elif there == {"FLASH_ATTENTION"}:
        message = "the TPU's flash kernel takes no float16 and not every head size: others raise"
        yield module.hit(call, message, "allow MATH as well", severity=Severity.WARNING)
    elif "FLASH_ATTENTION" not in there and "MATH" in there:
        message = "without the flash kernel, attention on a TPU takes memory by length squared"
        # Plain attention alone may be wanted, for second derivatives; flash switched off is not.
        alone = kinds == {"MATH"} and module.is_named(call.func, _KERNEL)
        severity = Severity.INFO if alone else Severity.WARNING
        yield module.hit(call, message, "allow FLASH_ATTENTION", severity=severity)
