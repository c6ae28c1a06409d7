"""TPA607: bitsandbytes, which has no kernels for TPUs."""

from __future__ import annotations

from tpu_audit.rules.libraries.kernel_packages import BITSANDBYTES
from tpu_audit.rules.libraries.recognise import recognise, words
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

RULE = Rule(
    code="TPA607",
    name="bitsandbytes",
    severity=Severity.ERROR,
    words=words(BITSANDBYTES),
    docs=Docs(
        what="Finds bitsandbytes: imports and requirements.",
        why="Its 8-bit and 4-bit layers and its optimizers call kernels that do not exist "
        "for TPUs.",
        example="import bitsandbytes as bnb\n\n"
        "optimizer = bnb.optim.AdamW8bit(model.parameters(), lr=1e-4)",
        instead="optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)",
        references=(
            "https://github.com/bitsandbytes-foundation/bitsandbytes",
            "https://github.com/pytorch/ao",
        ),
    ),
    valid=(
        Case("import torch\noptimizer = torch.optim.AdamW(p)\n"),
        Case("from project.quant import bitsandbytes_config\n"),
        Case("from torchao.optim import AdamW8bit\n"),
    ),
    invalid=(
        Case(
            "import bitsandbytes as bnb\nfrom .layer import Linear\n",
            filename="lib/tuners/lora/bnb.py",
            lines=(1,),
            severity=Severity.INFO,
        ),
        Case("import bitsandbytes as bnb\n", lines=(1,), severity=Severity.ERROR),
        Case("import torch\nfrom bitsandbytes.nn import Linear8bitLt\n", lines=(2,)),
        Case(
            "if args.use_8bit_adam:\n    import bitsandbytes as bnb\n"
            "    cls = bnb.optim.AdamW8bit\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "def optimizer(name, p):\n    if name == 'lion':\n"
            "        from bitsandbytes.optim import Lion\n        return Lion(p)\n",
            lines=(3,),
            severity=Severity.WARNING,
        ),
        Case(
            "def build(p):\n    import bitsandbytes as bnb\n"
            "    return bnb.optim.Adam8bit(p)\n\nif __name__ == '__main__':\n"
            "    build([])\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "dependencies:\n- python=3.11\n- pip:\n  - bitsandbytes>=0.43\n",
            filename="environment.yml",
            lines=(4,),
            severity=Severity.WARNING,
        ),
    ),
)

recognise(RULE, BITSANDBYTES)
