"""TPA614: monitors of NVIDIA devices."""

from __future__ import annotations

from tpu_audit.rules.libraries.kernel_packages import MONITORS
from tpu_audit.rules.libraries.recognise import recognise, words
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

RULE = Rule(
    code="TPA614",
    name="gpu-monitoring",
    severity=Severity.WARNING,
    words=words(MONITORS),
    docs=Docs(
        what="Finds NVML, GPUtil, nvitop and gpustat, and `nvidia-smi` in scripts.",
        why="There is no NVIDIA driver on a TPU host: NVML raises, and `nvidia-smi` is not found.",
        example="import pynvml\n\npynvml.nvmlInit()",
        instead="used = torch.accelerator.memory_allocated()",
        references=(
            "https://docs.pytorch.org/docs/stable/accelerator.html",
            "https://github.com/AI-Hypercomputer/cloud-accelerator-diagnostics",
        ),
    ),
    valid=(
        Case("import torch\ntorch.accelerator.memory_allocated()\n"),
        Case("echo no nvidia-smi here\n", filename="run.sh"),
        Case("import psutil\npynvml = None\n"),
    ),
    invalid=(
        Case("import pynvml\n", lines=(1,), severity=Severity.WARNING),
        Case("from GPUtil import getGPUs\n", lines=(1,)),
        Case(
            "try:\n    import pynvml as nv\nexcept ImportError:\n    nv = None\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "set -e\nnvidia-smi --query-gpu=name --format=csv\npython train.py\n",
            filename="run.sh",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "if command -v nvidia-smi >/dev/null; then\n  nvidia-smi -L\nfi\n",
            filename="run.sh",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case("nvidia-ml-py3\nGPUtil\n", filename="requirements.txt", lines=(1, 2)),
    ),
)

recognise(RULE, MONITORS)
