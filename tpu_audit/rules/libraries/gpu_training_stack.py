"""TPA619: training stacks that are written for CUDA."""

from __future__ import annotations

from tpu_audit.rules.libraries.recognise import recognise, words
from tpu_audit.rules.libraries.stack_packages import TRAINING
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

RULE = Rule(
    code="TPA619",
    name="gpu-training-stack",
    severity=Severity.WARNING,
    words=words(TRAINING),
    docs=Docs(
        what="Finds training stacks that are written for CUDA: TorchTitan, verl, OpenRLHF, "
        "Megatron and NeMo, Colossal-AI, Axolotl and LLaMA-Factory.",
        why="They ask for CUDA devices, NCCL and CUDA kernels at start-up, and have no way "
        "for TorchTPU.",
        example="from megatron.core import parallel_state",
        instead="from torch.distributed.fsdp import fully_shard\n\nfully_shard(model, mesh=mesh)",
        references=(
            "https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html",
            "https://github.com/verl-project/verl/issues/5192",
        ),
    ),
    valid=(
        Case("from trl import GRPOTrainer\n"),
        Case("from torch.distributed.fsdp import fully_shard\n"),
        Case("class Megatron:\n    pass\n"),
    ),
    invalid=(
        Case(
            "from verl.trainer.ppo.ray_trainer import RayPPOTrainer\n",
            lines=(1,),
            severity=Severity.WARNING,
        ),
        Case("import torchtitan.distributed.utils as utils\n", lines=(1,)),
        Case("from megatron.core import mpu\n", lines=(1,)),
        Case(
            "python -m verl.trainer.main_ppo trainer.n_gpus_per_node=8\n",
            filename="run.sh",
            lines=(1,),
        ),
        Case("FROM axolotlai/axolotl-cloud:main-latest\n", filename="Dockerfile", lines=(1,)),
        Case("RUN pip install openrlhf[vllm]==0.6\n", filename="Dockerfile", lines=(1,)),
    ),
)

recognise(RULE, TRAINING)
