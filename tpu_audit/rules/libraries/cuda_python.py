"""TPA602: CUDA sources and CUDA libraries for Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.libraries.kernel_packages import CUDA_PYTHON
from tpu_audit.rules.libraries.recognise import recognise, words
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_KERNEL = re.compile(
    r"__global__|__device__|<<<|TORCH_LIBRARY_IMPL\s*\(\s*\w+\s*,\s*CUDA\b"
    r"|\b(?:TORCH_CHECK|AT_ASSERTM?|AT_CHECK|TORCH_INTERNAL_ASSERT)\s*\([^;,]{0,60}\bis_cuda\(\)"
)
"""Kernels, launches, and C++ that refuses tensors of other devices."""
_HEADER = re.compile(
    r"^(cuda(_runtime(_api)?|_fp16|_bf16)?\.h|cu(blas|dnn|fft|rand|sparse|solver)\w*\.h"
    r"|ATen/cuda/|c10/cuda/|cooperative_groups|cub/|thrust/|cutlass/|nccl\.h|nvrtc\.h)"
)

RULE = Rule(
    code="TPA602",
    name="cuda-source",
    severity=Severity.ERROR,
    words=(
        *words(CUDA_PYTHON),
        *("__global__", "__device__", "cuda_runtime", "cuda_runtime_api", "CUDAContext"),
        *("CUDAGuard", "CUDAStream", "cublas_v2", "cudnn", "cub", "thrust", "cutlass", "include"),
        *("is_cuda", "TORCH_LIBRARY_IMPL"),
    ),
    docs=Docs(
        what="Finds CUDA sources and C++ that includes CUDA's headers (one finding a file), and "
        "CuPy, PyCUDA, Numba's CUDA target, CUDA Python and RAPIDS.",
        why="A TPU runs programs of the XLA compiler. CUDA code cannot be compiled for it, and its "
        "libraries find no driver.",
        example="import cupy as cp\n\nx = cp.asarray(host)",
        instead="x = torch.from_numpy(host).to(device)",
        references=(
            "https://docs.jax.dev/en/latest/pallas/index.html",
            "https://docs.pytorch.org/docs/stable/library.html",
        ),
    ),
    valid=(
        Case(
            "from cupy.linalg import norm\nfrom .core import ndarray\n",
            filename="lib/cupy/fft/a.py",
        ),
        Case("import numba\n\n@numba.njit\ndef f(x):\n    return x + 1\n"),
        Case('#include <torch/extension.h>\n#include "ops.h"\n', filename="ops.cpp"),
        Case("from numba import jit\ncuda = False\n"),
        Case("import torch\nfrom torch import cuda\ncuda.is_available()\n"),
    ),
    invalid=(
        Case(
            "#include <torch/extension.h>\nvoid f(at::Tensor x) {\n"
            '  TORCH_CHECK(x.is_cuda(), "x must be on CUDA");\n}\n',
            filename="ops.cpp",
            lines=(3,),
        ),
        Case(
            'from lib import optional_import\ncp, has_cp = optional_import("cupy")\n',
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "#include <torch/extension.h>\n#include <cuda_runtime.h>\n\n"
            "__global__ void f(float* x) { x[0] = 1; }\n",
            filename="ops.cu",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "#include <vector>\n#include <ATen/cuda/CUDAContext.h>\n"
            "#include <c10/cuda/CUDAGuard.h>\n",
            filename="bind.cpp",
            lines=(2,),
        ),
        Case("#pragma once\n__device__ float square(float x);\n", filename="math.cuh", lines=(2,)),
        Case("import cupy as cp\n", lines=(1,), severity=Severity.ERROR),
        Case("from numba import cuda, float32\n\n@cuda.jit\ndef f(x):\n    pass\n", lines=(1,)),
        Case("import numba\n\n@numba.cuda.jit(device=True)\ndef f(x):\n    pass\n", lines=(3,)),
        Case("import pycuda.autoinit\nimport pycuda.driver as drv\n", lines=(1,)),
        Case("from cuda.bindings import nvrtc\n", lines=(1,)),
        Case(
            "try:\n    import cudf as pd\nexcept ImportError:\n    import pandas as pd\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "mamba install -c conda-forge cupy numpy\n",
            filename="setup.sh",
            lines=(1,),
            severity=Severity.WARNING,
        ),
    ),
)

recognise(RULE, CUDA_PYTHON)


@RULE.use("numba.cuda.*")
def check(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find uses of ``numba.cuda`` where `import numba` alone brings it."""
    imported = (name for _, names in module.imported for name in names)
    if not any(one.startswith("numba.cuda") for one in imported):
        package = CUDA_PYTHON[2]
        yield module.hit(
            node,
            f"this uses `{name}`; on a TPU {package.needs}",
            package.instead,
            cause=package.name,
        )


@RULE.document("cpp")
def check_source(document: Document) -> Iterator[Hit]:
    """Find CUDA code: the first header or kernel of a file stands for all of it.

    Whether it is built at all is up to what names it, which is an error where it is found.
    """
    header = next((e for e in document.keyed("include") if _HEADER.match(str(e.value))), None)
    span = header.span if header is not None else None
    if span is None:
        kernel = _KERNEL.search(document.text)
        span = document.source.span(*kernel.span()) if kernel else None
    if span is not None:
        yield document.hit(
            span,
            "CUDA code cannot be compiled for a TPU",
            "write the op with torch, or as a Pallas kernel through `torch.tpu.pallas.jax_op`",
            severity=Severity.WARNING,
            cause="CUDA code",
        )
