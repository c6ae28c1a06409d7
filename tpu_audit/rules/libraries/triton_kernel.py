"""TPA603: Triton kernels."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.libraries.kernel_packages import TRITON
from tpu_audit.rules.libraries.optional import import_severity, only_asks
from tpu_audit.rules.libraries.recognise import recognise_documents, words
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_DECORATORS = (
    *("triton.jit", "triton.runtime.jit", "triton.runtime.jit.jit"),
    *("triton.experimental.gluon.jit", "torch.library.triton_op"),
)
_ADVICE = TRITON[0].instead
_OF_KERNELS = re.compile(
    r"(?:^|/)(?:\w*kernels?|\w*triton\w*|ops?|overrides)/|(?:triton|kernel|fused|flash|cuda)\w*\.py$"
)
"""Files of kernels by their path: whether a TPU comes to one is decided in another file."""

RULE = Rule(
    code="TPA603",
    name="triton-kernel",
    severity=Severity.ERROR,
    words=(*words(TRITON), "triton_op"),
    docs=Docs(
        what="Finds kernels of Triton, and imports of it in files without kernels. A file of "
        "kernels by its name, which another file chooses, is worth one warning; functions that "
        "kernels call are left out.",
        why="There is no Triton backend for TPUs: a kernel fails when it is launched. Kernels for "
        "TPUs are written in Pallas.",
        example="@triton.jit\ndef add(x, y, out, n, BLOCK: tl.constexpr): ...",
        instead="out = x + y  # torch ops, fused by torch.compile",
        references=(
            "https://docs.jax.dev/en/latest/pallas/index.html",
            "https://docs.pytorch.org/docs/stable/generated/torch.compile.html",
        ),
    ),
    valid=(
        Case("import tritonclient.http\n"),
        Case("import torch\nstep = torch.compile(step)\n"),
        Case("from .triton import kernels\n"),
        Case("import jax\nfrom jax.experimental import pallas as pl\n\n@jax.jit\ndef f(x): ...\n"),
    ),
    invalid=(
        Case(
            "import triton\nimport triton.language as tl\n\n@triton.jit\ndef add(x):\n    pass\n",
            lines=(4,),
            severity=Severity.ERROR,
        ),
        Case(
            "import triton\n\n@triton.jit\ndef square(x):\n    return x * x\n\n@triton.jit\n"
            "def add(x):\n    square(x)\n\ndef run(x):\n    add[(1,)](x)\n",
            lines=(7,),
        ),
        Case(
            "import triton\n",
            filename="lib/triton_utils/tune.py",
            lines=(1,),
            severity=Severity.WARNING,
        ),
        Case(
            "import triton\n\n@triton.jit\ndef add(x): ...\n\n@triton.jit\ndef mul(x): ...\n",
            filename="lib/kernels/fused_add.py",
            lines=(3,),
            severity=Severity.WARNING,
        ),
        Case(
            "from triton import autotune, jit\n\n@autotune(configs=[], key=[])\n@jit\n"
            "def f(x):\n    pass\n",
            lines=(4,),
        ),
        Case(
            "try:\n    import triton\nexcept ImportError:\n    triton = None\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case("from triton.ops.blocksparse import matmul\n", lines=(1,), severity=Severity.ERROR),
        Case(
            "HAS_TRITON = has_triton()\nif HAS_TRITON:\n    import triton\n\n    @triton.jit\n"
            "    def f(x):\n        pass\n",
            lines=(5,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\n\n@torch.library.triton_op('my::add', mutates_args=())\n"
            "def add(x: torch.Tensor) -> torch.Tensor: ...\n",
            lines=(3,),
        ),
        Case("triton==3.1.0\n", filename="requirements.txt", lines=(1,), severity=Severity.WARNING),
    ),
)

recognise_documents(RULE, TRITON)


@RULE.module
def check(module: Module) -> Iterator[Hit]:
    """Find kernels; where there are none, imports."""
    kernels = list(_kernels(module))
    chosen = _OF_KERNELS.search(module.path.replace("\\", "/")) is not None
    for name, decorator in _launched(kernels, module)[: 1 if chosen else None]:
        severity = import_severity(module, module.statement(decorator), ("triton",))
        if chosen and severity is Severity.ERROR:
            severity = Severity.WARNING
        yield module.hit(
            decorator,
            f"`{name}` is a Triton kernel: there is no Triton backend for TPUs, so it fails when "
            "it is launched",
            _ADVICE,
            severity=severity,
            cause="Triton kernels",
        )
    for node, names in module.imported if not kernels else ():
        if only_asks(node):
            continue
        if any(name == "triton" or name.startswith("triton.") for name in names):
            severity = import_severity(module, node, ("triton",))
            yield module.hit(
                node,
                f"this imports Triton; on a TPU {TRITON[0].needs}",
                _ADVICE,
                severity=Severity.WARNING if chosen and severity is Severity.ERROR else severity,
                cause="Triton is imported",
            )


def _launched(kernels: list[tuple[str, ast.expr]], module: Module) -> list[tuple[str, ast.expr]]:
    """Leave out functions that kernels call; all are kept where no other is there."""
    found = [(name, decorator) for name, decorator in kernels if not _is_called(name, module)]
    return found or kernels


def _is_called(name: str, module: Module) -> bool:
    uses = module.index.names.get(name, ())
    parents = [module.parent(use) for use in uses]
    return bool(uses) and all(
        isinstance(parent, ast.Call) and parent.func is use
        for use, parent in zip(uses, parents, strict=True)
    )


def _kernels(module: Module) -> Iterator[tuple[str, ast.expr]]:
    for function in module.index.of(ast.FunctionDef):
        for decorator in function.decorator_list:
            callee = decorator.func if isinstance(decorator, ast.Call) else decorator
            if module.is_named(callee, *_DECORATORS):
                yield function.name, decorator
                break
