"""TPA611: kernels of state space models."""

from __future__ import annotations

from tpu_audit.rules.libraries.kernel_packages import STATE_SPACES
from tpu_audit.rules.libraries.recognise import recognise, words
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

RULE = Rule(
    code="TPA611",
    name="state-space-kernels",
    severity=Severity.WARNING,
    words=words(STATE_SPACES),
    docs=Docs(
        what="Finds mamba-ssm, causal-conv1d, flash-linear-attention and RWKV's kernels.",
        why="Their kernels are CUDA and Triton code. The models of transformers fall back "
        "to plain torch where these packages are missing; other code fails at the "
        "import.",
        example="from mamba_ssm import Mamba",
        instead="from transformers import MambaModel  # plain torch where mamba-ssm is missing",
        references=(
            "https://github.com/state-spaces/mamba",
            "https://huggingface.co/docs/transformers/model_doc/mamba",
        ),
    ),
    valid=(
        Case("from transformers import MambaForCausalLM\n"),
        Case("import torch\ncausal_conv1d = torch.nn.Conv1d(4, 4, 3, groups=4)\n"),
        Case("from .fla import Layer\n"),
    ),
    invalid=(
        Case(
            "from mamba_ssm.modules.mamba2 import Mamba2\n", lines=(1,), severity=Severity.WARNING
        ),
        Case("from causal_conv1d import causal_conv1d_fn\n", lines=(1,)),
        Case(
            "try:\n    from fla.ops.gated_delta_rule import chunk_gated_delta_rule\n"
            "except ImportError:\n    chunk_gated_delta_rule = None\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case("RUN pip install causal-conv1d>=1.4 mamba-ssm\n", filename="Dockerfile", lines=(1, 1)),
    ),
)

recognise(RULE, STATE_SPACES)
