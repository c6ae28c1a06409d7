"""TPA616: kernels of the Hugging Face hub."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.libraries.recognise import recognise_documents
from tpu_audit.rules.libraries.stack_packages import HUB_KERNELS
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_KERNELS = HUB_KERNELS[0]
_API = (
    *("get_kernel", "get_local_kernel", "get_locked_kernel", "load_kernel", "has_kernel"),
    *("kernelize", "use_kernel_forward_from_hub", "LayerRepository", "register_kernel_mapping"),
)
"""What tells the package from a project's own module of that name."""

RULE = Rule(
    code="TPA616",
    name="hub-kernels",
    severity=Severity.INFO,
    words=("kernels", "use_kernels"),
    docs=Docs(
        what="Finds kernels of the Hugging Face hub: the `kernels` package, and "
        "`use_kernels=True`.",
        why="transformers accepts `tpu` as a device of kernels, yet most kernels of the "
        "hub are built for CUDA. Without a variant for TPUs a layer keeps its plain "
        "code, or loading fails.",
        example="model = AutoModelForCausalLM.from_pretrained(name, use_kernels=True)",
        instead="model = AutoModelForCausalLM.from_pretrained(name)",
        references=(
            "https://github.com/huggingface/kernels",
            "https://github.com/huggingface/transformers/pull/45918",
        ),
    ),
    valid=(
        Case(
            "from transformers import AutoModel\n"
            "m = AutoModel.from_pretrained(n, use_kernels=False)\n"
        ),
        Case("from sklearn.gaussian_process.kernels import RBF\n"),
        Case("from .kernels import fused\nkernels = fused()\n"),
        Case("from kernels import my_own_kernel\n"),
    ),
    invalid=(
        Case(
            "from kernels import get_kernel\nfrom kernels import kernelize\n"
            "def f():\n    from kernels import get_kernel\n",
            lines=(1,),
        ),
        Case(
            "from kernels import get_kernel\n"
            "activation = get_kernel('kernels-community/activation')\n",
            lines=(1,),
            severity=Severity.INFO,
        ),
        Case("m = AutoModelForCausalLM.from_pretrained(name, use_kernels=True)\n", lines=(1,)),
        Case(
            "import kernels\nfrom transformers import KernelConfig\nkernels.get_kernel('a/b')\n",
            lines=(3,),
        ),
    ),
)

recognise_documents(RULE, HUB_KERNELS)


@RULE.imports(*(f"kernels.{name}" for name in _API))
def check_import(statement: ast.stmt | ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find the first import of the package's functions."""
    wanted = {f"kernels.{function}" for function in _API}
    first = next(node for node, names in module.imported if wanted.intersection(names))
    if statement is not first:
        return
    yield module.hit(
        statement,
        f"`{name}` fetches a kernel: on a TPU {_KERNELS.needs}",
        _KERNELS.instead,
        cause="kernels of the hub",
    )


@RULE.call(*(f"kernels.{name}" for name in _API))
def check_call(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find calls through the package itself."""
    if isinstance(call.func, ast.Attribute):
        yield module.hit(
            call,
            f"`{name}` fetches a kernel: on a TPU {_KERNELS.needs}",
            _KERNELS.instead,
            cause="kernels of the hub",
        )


@RULE.keyword("use_kernels")
def check_keyword(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find models that are loaded with kernels of the hub."""
    if any(possible.value is True for possible in module.value(keyword.value)):
        yield module.hit(
            keyword,
            f"`use_kernels` fetches kernels: on a TPU {_KERNELS.needs}",
            _KERNELS.instead,
            cause="kernels of the hub",
        )
