"""TPA609: DeepSpeed, which has no accelerator for TPUs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api.environment import is_run
from tpu_audit.rules.libraries.recognise import recognise, words
from tpu_audit.rules.libraries.stack_packages import DEEPSPEED
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

RULE = Rule(
    code="TPA609",
    name="deepspeed",
    severity=Severity.ERROR,
    words=words(DEEPSPEED),
    docs=Docs(
        what="Finds DeepSpeed: imports, requirements and its launcher.",
        why="DeepSpeed has no accelerator for TPUs: it takes the CPU, and its fused ops do "
        "not build. FSDP2 shards parameters, gradients and optimizer states as ZeRO "
        "does.",
        example="import deepspeed\n\nengine, *_ = deepspeed.initialize(model=model, config=config)",
        instead="from torch.distributed.fsdp import fully_shard\n\nfully_shard(model)",
        references=(
            "https://github.com/deepspeedai/DeepSpeed",
            "https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html",
        ),
    ),
    valid=(
        Case("from torch.distributed.fsdp import fully_shard\nfully_shard(model)\n"),
        Case("from trl import SFTConfig\nuses_deepspeed = False\n"),
        Case("echo deepspeed is not needed\n", filename="run.sh"),
    ),
    invalid=(
        Case("import deepspeed\n", lines=(1,), severity=Severity.ERROR),
        Case(
            "import subprocess\ncmd = ['deepspeed', '--num_gpus', '4']\nsubprocess.run(cmd)\n",
            lines=(2,),
        ),
        Case("engine, *_ = deepspeed.initialize(model=m)\n", lines=(1,), severity=Severity.ERROR),
        Case("from deepspeed.ops.adam import DeepSpeedCPUAdam as Adam\n", lines=(1,)),
        Case(
            "from transformers.integrations import is_deepspeed_zero3_enabled\n"
            "if is_deepspeed_zero3_enabled():\n    import deepspeed\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
        Case(
            "def main():\n    import deepspeed\n    deepspeed.init_distributed()\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "#!/bin/bash\ndeepspeed --num_gpus 8 train.py --deepspeed ds.json\n",
            filename="run.sh",
            lines=(2,),
        ),
        Case(
            "[project]\nname = 'x'\ndependencies = ['torch', 'deepspeed==0.15']\n",
            filename="pyproject.toml",
            lines=(3,),
            severity=Severity.WARNING,
        ),
    ),
)

recognise(RULE, DEEPSPEED)


@RULE.string("deepspeed")
def check_command(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find the launcher where code runs it."""
    words = module.parent(constant)
    first = not isinstance(words, ast.List) or words.elts[0] is constant
    begins = str(constant.value).split(maxsplit=1)[:1] == ["deepspeed"]
    if begins and first and is_run(constant, module):
        yield module.hit(
            constant,
            "this runs DeepSpeed's launcher, which starts processes for CUDA devices",
            DEEPSPEED[0].instead,
        )
