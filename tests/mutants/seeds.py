"""Files to mutate: every case of every rule, and one rich file of each kind."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tpu_audit.rules import catalogue


@dataclass(frozen=True, kw_only=True, slots=True)
class Seed:
    """A file that the checker reads."""

    name: str
    data: bytes


_NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# é\n", "x.cuda()"]},
        {"cell_type": "code", "source": ["!pip install cupy\n", "%time x = y.cuda()\n", "z?"]},
        {
            "cell_type": "code",
            "source": "import torch\nwith torch.cuda.amp.autocast():\n  x.cuda()",
        },
        {"cell_type": "code", "source": ["%%bash\n", "nvidia-smi && module load cuda"]},
    ],
    "nbformat": 4,
}
_RICH = {
    "train.py": (
        '"""é"""\nimport torch\nfrom torch import cuda\n\n'
        "def main(device: str = 'cuda'):\n    model = torch.nn.Linear(2, 2).cuda()\n"
        "    for x in loader:\n        if x.is_cuda:  # tpu-audit: ignore[TPA111] why\n"
        "            print(x.sum().item(), f'{device}:{0}')\n    cuda.empty_cache()\n"
        "x = 'cuda:%d' % 1\nmatch x:\n    case {'a': 1}: pass\n"
    ),
    "nb.ipynb": json.dumps(_NOTEBOOK, indent=1, ensure_ascii=False),
    "templates/pod.yaml": (
        "apiVersion: v1\nkind: Pod\nspec: &s\n  {{- if .gpu }}\n  limits: {nvidia.com/gpu: 1}\n"
        "  {{- end }}\n  é: \"{{ .x }}\"\n  command: [sh, -c, 'nvidia-smi']\n---\n<<: *s\n"
    ),
    ".github/workflows/ci.yml": (
        "on: push\njobs:\n a:\n  steps:\n   - run: |\n      pip install cupy\n"
    ),
    "config.json": '{"model_type": "x", "torch_dtype": "float16", "a": [1, "\\u00e9", null]}',
    "pyproject.toml": '[project]\ndependencies = ["torch==2.1", "cupy"]\n[tool.x]\na = {b = [1]}\n',
    "setup.cfg": "[options]\ninstall_requires =\n  torch\n  flash-attn # c\n[a]\nb: cuda\n",
    ".env": 'export CUDA_VISIBLE_DEVICES=0 # c\nA="é"\n',
    "requirements.txt": (
        "--index-url https://x/cu121\ntorch==2.1+cu121 \\\n --hash=sha256:1\ncupy # é\n"
    ),
    "Dockerfile": (
        "ARG A=nvidia/cuda:12\nFROM ${A}\nRUN pip install cupy \\\n # c\n && nvcc\nCMD ['a']\n"
    ),
    "run.sh": "#!/bin/bash\n#SBATCH --gres=gpu:1\n"
    "A=(1 2) x \"$(nvidia-smi)\" <<E\né\nE\nexport B='c'\n",
    "Makefile": "NVCC ?= nvcc # é\na: b\n\t@$(NVCC) -o x\n",
    "CMakeLists.txt": 'find_package(CUDA "é" REQUIRED) #[[ c ]]\n',
    "k.cu": '#include <cuda_runtime.h>\n/* é */ #include "a.cuh"\n',
}


def rich_seeds() -> list[Seed]:
    """Return a file of each kind with much of its format in it."""
    return [Seed(name=name, data=text.encode()) for name, text in _RICH.items()]


def case_seeds() -> list[Seed]:
    """Return the cases of all rules."""
    cases = [case for rule in catalogue.rules() for case in (*rule.valid, *rule.invalid)]
    return [Seed(name=case.filename, data=case.source.encode()) for case in cases]
