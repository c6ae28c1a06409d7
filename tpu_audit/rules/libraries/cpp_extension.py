"""TPA601: CUDA extensions built by ``torch.utils.cpp_extension``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.python.guards import Guarded, guard_of
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_MODULE = "torch.utils.cpp_extension"
_ADVICE = (
    "write the op with torch, or as a Pallas kernel through `torch.tpu.pallas.jax_op`; register it "
    "with `torch.library.custom_op`"
)

_SOURCES = (".cpp", ".cc", ".cu", ".cuh")

RULE = Rule(
    code="TPA601",
    name="cuda-extension",
    severity=Severity.ERROR,
    words=("CUDAExtension", "cpp_extension", "load_inline", "CUDA_HOME"),
    docs=Docs(
        what="Finds `CUDAExtension`, `load` and `load_inline` of `torch.utils.cpp_extension`. "
        "Extensions of C++ alone are warnings.",
        why="CUDA sources need `nvcc` and a CUDA device. C++ sources build, but their ops have no "
        "kernel for TPU tensors.",
        example="from torch.utils.cpp_extension import load\n\n"
        'ops = load("ops", ["ops.cpp", "ops_kernel.cu"])',
        instead='@torch.library.custom_op("my::op", mutates_args=())\n'
        "def op(x: torch.Tensor) -> torch.Tensor:\n    return ...  # torch ops",
        references=(
            "https://docs.pytorch.org/docs/stable/cpp_extension.html",
            "https://docs.pytorch.org/docs/stable/library.html",
        ),
    ),
    valid=(
        Case("from torch.utils.cpp_extension import BuildExtension\ncmd = BuildExtension\n"),
        Case("from json import load\nops = load(open(path))\n"),
        Case(
            "import torch\nfrom torch.utils.cpp_extension import load\n"
            'if torch.cuda.is_available():\n    ops = load("ops", ["ops.cu"])\n'
        ),
    ),
    invalid=(
        Case(
            "import os\nfrom torch.utils.cpp_extension import load\n"
            "path = os.path.join(os.path.dirname(__file__), 'tree.cpp')\n"
            "load(name='tree', sources=[path])\n",
            lines=(4,),
            severity=Severity.WARNING,
        ),
        Case(
            "import os\nfrom torch.utils.cpp_extension import load\n"
            "m = load(name='m', sources=[os.path.join(here, 'filter_pids.cpp')])\n",
            lines=(3,),
            severity=Severity.WARNING,
        ),
        Case(
            "from torch.utils.cpp_extension import BuildExtension, CUDAExtension\n"
            'setup(ext_modules=[CUDAExtension("ops", ["a.cpp", "b.cu"])])\n',
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "from torch.utils.cpp_extension import CUDA_HOME\nassert CUDA_HOME is not None\n",
            lines=(2,),
        ),
        Case(
            "from torch.utils import cpp_extension as ext\nSOURCES = ['scan.cu']\n"
            "ops = ext.load(name='scan', sources=SOURCES, verbose=True)\n",
            lines=(3,),
            severity=Severity.ERROR,
        ),
        Case(
            "import torch.utils.cpp_extension\n"
            "m = torch.utils.cpp_extension.load_inline('m', cpp_sources=c, cuda_sources=[k])\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "from torch.utils.cpp_extension import load_inline as build\n"
            "m = build(name='m', cpp_sources=SOURCE, functions=['f'])\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "from torch.utils.cpp_extension import load\n"
            "try:\n    ops = load('ops', ['ops.cu'])\nexcept Exception:\n    ops = None\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
    ),
)


@RULE.call(f"{_MODULE}.CUDAExtension", f"{_MODULE}.load", f"{_MODULE}.load_inline")
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find extensions that are built; a choice beside ``CppExtension`` takes that on a TPU."""
    if f"{_MODULE}.CppExtension" in module.qualified(call.func):
        return
    plain = _is_plain(call, name.rpartition(".")[2], module)
    severity = Severity.WARNING if plain else Severity.ERROR
    yield module.hit(
        call.func,
        f"`{call_name(name)}` builds ops that have no kernel for TPU tensors"
        if plain
        else f"`{call_name(name)}` compiles CUDA code: on a TPU host it does not build",
        _ADVICE,
        severity=Severity.INFO if module.context(call).caught else severity,
    )


@RULE.use(f"{_MODULE}.CUDA_HOME")
def check_home(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find builds that stop without the toolkit."""
    if guard_of(node, module) is Guarded.DEMAND:
        yield module.hit(node, f"`{call_name(name)}` is None on a TPU host: this stops", _ADVICE)


def call_name(name: str) -> str:
    """Return the last part of a dotted name."""
    return name.rpartition(".")[2]


def _is_plain(call: ast.Call, callee: str, module: Module) -> bool:
    """Tell whether the sources are C++ alone, as far as the call says."""
    if callee == "CUDAExtension":
        return False
    if keyword(call, "cuda_sources", "extra_cuda_cflags", "with_cuda") is not None:
        return False
    if callee == "load_inline":
        return len(call.args) < 3  # noqa: PLR2004 - the third is cuda_sources
    sources = call.args[1] if len(call.args) > 1 else keyword(call, "sources")
    files = module.elements(sources) if sources is not None else []
    texts = [text for file in files for text in module.value(file).strings()]
    made = [b.value for f in files if isinstance(f, ast.Name) for b in module.scopes.bindings(f)]
    whole = [*files, *(value for value in made if value is not None)]
    parts = (getattr(part, "value", None) for part in descend(*whole))
    texts += [part for part in parts if isinstance(part, str) and part.endswith(_SOURCES)]
    return bool(texts) and not any(text.endswith((".cu", ".cuh")) for text in texts)
