"""TPA606: xFormers, whose operators are for CUDA."""

from __future__ import annotations

from tpu_audit.rules.libraries.kernel_packages import XFORMERS
from tpu_audit.rules.libraries.recognise import recognise, words
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

RULE = Rule(
    code="TPA606",
    name="xformers",
    severity=Severity.ERROR,
    words=words(XFORMERS),
    docs=Docs(
        what="Finds xFormers: imports and requirements.",
        why="xFormers has operators for CUDA only: `memory_efficient_attention` raises "
        "with TPU tensors. `scaled_dot_product_attention` runs as a flash kernel on "
        "TPUs.",
        example="import xformers.ops as xops\n\nout = xops.memory_efficient_attention(q, k, v)",
        instead="import torch.nn.functional as F\n\n"
        "out = F.scaled_dot_product_attention(*(x.transpose(1, 2) for x in (q, k, "
        "v))).transpose(1, 2)",
        references=(
            "https://github.com/facebookresearch/xformers",
            "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
        ),
    ),
    valid=(
        Case("import torch.nn.functional as F\nF.scaled_dot_product_attention(q, k, v)\n"),
        Case(
            "import torch\nout = xformers_attention(q) if torch.cuda.is_available() else plain(q)\n"
        ),
        Case("from mymodels.xformers import Block\n"),
    ),
    invalid=(
        Case("import xformers.ops as xops\n", lines=(1,), severity=Severity.ERROR),
        Case(
            "from xformers.ops import memory_efficient_attention, LowerTriangularMask\n", lines=(1,)
        ),
        Case(
            "try:\n    import xformers.ops\n    HAS = True\nexcept Exception:\n    HAS = False\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "import importlib.util\n"
            "if importlib.util.find_spec('xformers') is not None:\n    import xformers\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
        Case(
            "torch==2.13.0\nxformers==0.0.30\n",
            filename="requirements-gpu.txt",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "pip install -U xformers --index-url https://download.pytorch.org/whl/cu121\n",
            filename="install.sh",
            lines=(1,),
            severity=Severity.WARNING,
        ),
    ),
)

recognise(RULE, XFORMERS)
