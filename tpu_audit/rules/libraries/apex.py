"""TPA608: NVIDIA Apex, a CUDA extension."""

from __future__ import annotations

from tpu_audit.rules.libraries.kernel_packages import APEX
from tpu_audit.rules.libraries.recognise import recognise, words
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

RULE = Rule(
    code="TPA608",
    name="apex",
    severity=Severity.ERROR,
    words=words(APEX),
    docs=Docs(
        what="Finds NVIDIA Apex: imports, requirements and builds from source.",
        why="Apex is a CUDA extension: it neither builds nor imports on a TPU host. "
        "PyTorch has what it brought.",
        example="from apex import amp\nfrom apex.optimizers import FusedAdam",
        instead="optimizer = torch.optim.AdamW(model.parameters(), fused=True)\n"
        "with torch.autocast(device.type, dtype=torch.bfloat16):\n    loss = model(x)",
        references=(
            "https://github.com/NVIDIA/apex",
            "https://docs.pytorch.org/docs/stable/amp.html",
        ),
    ),
    valid=(
        Case("from torch import amp\n"),
        Case("from mylib.apex import Legend\n"),
        Case("import torch\napex = heights.max()\n"),
    ),
    invalid=(
        Case("from apex import amp\n", lines=(1,), severity=Severity.ERROR),
        Case("import apex.optimizers as optim\n", lines=(1,)),
        Case(
            "try:\n    from apex.normalization import FusedRMSNorm as Norm\n"
            "except (ImportError, ModuleNotFoundError):\n"
            "    from torch.nn import RMSNorm as Norm\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "try:\n    import apex\nexcept ImportError:\n    raise SystemExit('install apex')\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "RUN git clone https://github.com/NVIDIA/apex && cd apex && pip install -v .\n",
            filename="Dockerfile",
            lines=(1,),
        ),
        Case(
            "class Net:\n    def __init__(self, fused):\n        if fused == 'apex':\n"
            "            from apex.normalization import FusedLayerNorm\n",
            lines=(4,),
            severity=Severity.INFO,
        ),
    ),
)

recognise(RULE, APEX)
