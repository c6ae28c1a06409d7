"""TPA807: environment variables that only CUDA reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.infrastructure.environment import variables
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.infrastructure.environment import Variable

_RENAMED = {
    "CUDA_VISIBLE_DEVICES": "TPU_VISIBLE_DEVICES",
    "CUDA_LAUNCH_BLOCKING": "TPU_LAUNCH_BLOCKING",
}
"""Variables with a counterpart that torch-tpu reads."""
_NAME = re.compile(
    r"CUDA_(?:DEVICE_ORDER|DEVICE_MAX_CONNECTIONS|MODULE_LOADING|CACHE_\w+|HOME|PATH|ROOT|ROOT_DIR"
    r"|TOOLKIT_ROOT_DIR|ARCHITECTURES|ARCH_LIST|ARCHS?|FORCE_PTX_JIT|MPS_\w+|INC_PATH|LIB_PATH"
    r"|BIN_PATH|LAUNCH_TIMEOUT|ENABLE_\w+|VISIBLE_DEVICES|LAUNCH_BLOCKING|COREDUMP_\w+|MPS)"
    r"|(?:TORCH_)?NCCL_\w+|CUDNN_\w+|CUBLAS(?:LT)?_\w+|TORCH_CUDA_ARCH_LIST|PYTORCH_CUDA_ALLOC_CONF"
    r"|PYTORCH_NO_CUDA_MEMORY_CACHING|TORCH_CUDNN_\w+|TORCH_ALLOW_TF32_CUBLAS_OVERRIDE"
    r"|NVIDIA_(?:VISIBLE_DEVICES|DRIVER_CAPABILITIES|TF32_OVERRIDE|REQUIRE_CUDA|DISABLE_REQUIRE)"
    r"|FORCE_CUDA|TCNN_CUDA_ARCHITECTURES|CONDA_OVERRIDE_CUDA|CUDACXX|CUDAARCHS|NVCC_\w+"
    r"|MMCV_CUDA_ARGS|PYTORCH_NVML_BASED_CUDA_CHECK|NVTE_\w+|DS_BUILD_\w+|NVSHMEM_\w+|UCX_CUDA_\w+"
    r"|SLURM_GPUS\w*|TORCH_CUDA_\w+|BNB_CUDA_VERSION"
)
_OFF = re.compile(r"|-1|none|void|no-?dev(?:ice)?(?:files)?|\"\"|''", re.IGNORECASE)
"""Values that hide GPUs: harmless on a TPU."""
_HIDING = frozenset({"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "FORCE_CUDA"})

RULE = Rule(
    code="TPA807",
    name="cuda-environment",
    severity=Severity.WARNING,
    words=(
        *("CUDA_*", "NCCL_*", "CUDNN_*", "CUBLAS*", "NVIDIA_*", "CUDACXX", "CUDAARCHS", "NVCC_*"),
        *("NVTE_*", "NVSHMEM_*", "FORCE_CUDA", "DS_BUILD_*", "SLURM_GPUS*"),
    ),
    docs=Docs(
        what="Finds `CUDA_VISIBLE_DEVICES`, `NCCL_*`, `TORCH_CUDA_ARCH_LIST`, "
        "`PYTORCH_CUDA_ALLOC_CONF` and other variables of CUDA that are set in scripts, `.env` "
        "files, images, compose files, manifests and CI. Reading them is no finding.",
        why="Nothing reads them on a TPU: devices are not chosen, launches do not block, and "
        "tuning of NCCL or of CUDA's allocator is lost.",
        example="CUDA_VISIBLE_DEVICES=0,1 python train.py",
        instead="TPU_VISIBLE_DEVICES=0,1 python train.py",
        fix_safety="Unsafe: `CUDA_VISIBLE_DEVICES` and `CUDA_LAUNCH_BLOCKING` are renamed, which "
        "takes them from CUDA. Others have no counterpart and are left.",
        references=(
            "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
            "https://docs.pytorch.org/docs/stable/cuda_environment_variables.html",
        ),
    ),
    valid=(
        Case('#!/bin/bash\necho "CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES"\n', filename="run.sh"),
        Case(
            'CUDA_VISIBLE_DEVICES="" pytest\nCUDA_VISIBLE_DEVICES=-1 python a.py\n', filename="t.sh"
        ),
        Case("# NCCL_DEBUG=INFO\nTPU_VISIBLE_DEVICES=0\nMY_CUDA_FLAG=1\n", filename=".env"),
        Case(
            "env:\n  USE_CUDA: 1\n  BARRACUDA_HOME: x\nnotes: NCCL_DEBUG=INFO\n", filename="c.yaml"
        ),
        Case("FROM python:3.12\nENV NVIDIA_VISIBLE_DEVICES=void\n", filename="Dockerfile"),
        Case("NCCL_DEBUG:\n  help: how loud NCCL is\n", filename="docs/options.yaml"),
    ),
    invalid=(
        Case(
            "export CUDA_VISIBLE_DEVICES=0,1,2,3\nNCCL_DEBUG=INFO CUDA_LAUNCH_BLOCKING=1 "
            "python train.py\n",
            filename="run.sh",
            lines=(1, 2, 2),
            columns=(8, 1, 17),
            fixed="export TPU_VISIBLE_DEVICES=0,1,2,3\nNCCL_DEBUG=INFO TPU_LAUNCH_BLOCKING=1 "
            "python train.py\n",
        ),
        Case(
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\nexport CUDA_VISIBLE_DEVICES = 0\n",
            filename=".env",
            lines=(1, 2),
        ),
        Case(
            'FROM python:3.12\nARG TORCH_CUDA_ARCH_LIST="8.0;9.0"\nENV CUDA_HOME=/usr/local/cuda '
            "NVIDIA_VISIBLE_DEVICES=all\nENV NCCL_P2P_DISABLE 1\n",
            filename="Dockerfile",
            lines=(2, 3, 3, 4),
        ),
        Case(
            "services:\n  a:\n    image: x\n    environment:\n"
            "      - CUDA_VISIBLE_DEVICES=${GPUS:-0}\n      - NVIDIA_DRIVER_CAPABILITIES=all\n"
            "  b:\n    image: x\n    environment: {NCCL_SOCKET_IFNAME: eth0}\n",
            filename="compose.yaml",
            lines=(5, 6, 9),
            fixed="services:\n  a:\n    image: x\n    environment:\n"
            "      - TPU_VISIBLE_DEVICES=${GPUS:-0}\n      - NVIDIA_DRIVER_CAPABILITIES=all\n"
            "  b:\n    image: x\n    environment: {NCCL_SOCKET_IFNAME: eth0}\n",
        ),
        Case(
            "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: t\n      env:\n"
            '        - name: NCCL_DEBUG\n          value: "INFO"\n'
            '        - {name: A, value: "1"}\n',
            filename="pod.yaml",
            lines=(7,),
        ),
        Case(
            "docker run -e CUDA_VISIBLE_DEVICES=0 --env=NCCL_DEBUG=WARN img\n"
            "mpirun -np 2 -x NCCL_IB_DISABLE=1 python t.py\n"
            "srun --export=ALL,CUDA_HOME=/c hostname\n",
            filename="r.sh",
            lines=(1, 1, 2, 3),
        ),
        Case(
            "GPU ?= 0\nexport CUDA_VISIBLE_DEVICES := $(GPU)\nrun:\n"
            "\tNCCL_DEBUG=INFO python t.py\n",
            filename="Makefile",
            lines=(2, 4),
        ),
        Case(
            "[tox]\n[testenv]\nsetenv =\n    A = 1\n    CUDA_VISIBLE_DEVICES = 0\n",
            filename="tox.ini",
            lines=(5,),
        ),
        Case("runtime_env:\n  env_vars:\n    NCCL_DEBUG: INFO\n", filename="ray.yaml", lines=(3,)),
        Case("setenv CUDA_VISIBLE_DEVICES 0\n", filename="run.csh", lines=(1,)),
    ),
)


@RULE.document()
def check(document: Document) -> Iterator[Hit]:
    """Find the variables where they are set."""
    seen = set()
    for variable in variables(document):
        if not _NAME.fullmatch(variable.name) or variable.key_span in seen or _hides(variable):
            continue
        seen.add(variable.key_span)
        yield _hit(document, variable)


def _hides(variable: Variable) -> bool:
    off = _OFF.fullmatch(variable.value.strip()) is not None
    return variable.name in _HIDING and (
        off or (variable.name == "FORCE_CUDA" and variable.value == "0")
    )


def _hit(document: Document, variable: Variable) -> Hit:
    new = _RENAMED.get(variable.name)
    span = variable.key_span
    fix = None
    if new and document.source.slice(span) == variable.name:
        fix = document.replace(span, new, Applicability.UNSAFE)
    return document.hit(
        span,
        f"nothing reads `{variable.name}` on a TPU",
        f"set `{new}`" if new else "delete it",
        fix=fix,
        cause=variable.name if new else "others",
    )
