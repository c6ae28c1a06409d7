"""TPA617: Liger Kernel, vLLM and SGLang for CUDA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.libraries.recognise import recognise, words
from tpu_audit.rules.libraries.stack_packages import KERNEL_STACKS
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

RULE = Rule(
    code="TPA617",
    name="gpu-kernel-stack",
    severity=Severity.WARNING,
    words=(*words(KERNEL_STACKS), "use_liger_kernel", "use_liger"),
    docs=Docs(
        what="Finds Liger Kernel, vLLM for CUDA and SGLang: imports, requirements, "
        "programs, container images, and `use_liger_kernel=True`.",
        why="Their kernels are CUDA and Triton code. vLLM and SGLang have packages for "
        "TPUs under other names.",
        example="pip install vllm\nvllm serve MODEL",
        instead="pip install vllm-tpu  # vllm-torchtpu for TorchTPU\nvllm serve MODEL",
        references=(
            "https://docs.vllm.ai/projects/tpu/en/latest/",
            "https://github.com/vllm-project/tpu-inference",
            "https://github.com/sgl-project/sglang-jax",
        ),
    ),
    valid=(
        Case("vllm-tpu\n", filename="requirements.txt"),
        Case("image: vllm/vllm-tpu:nightly\n", filename="pod.yaml"),
        Case("args = TrainingArguments(output_dir='o', use_liger_kernel=False)\n"),
        Case("from langchain_community.llms import VLLM\n"),
        Case("import sgl_jax\n"),
    ),
    invalid=(
        Case("from vllm import LLM, SamplingParams\n", lines=(1,), severity=Severity.WARNING),
        Case("import sglang as sgl\n", lines=(1,)),
        Case(
            "from trl import SFTConfig\nargs = SFTConfig(output_dir='o', use_liger_kernel=True)\n",
            lines=(2,),
        ),
        Case(
            "import importlib.util\nif importlib.util.find_spec('liger_kernel'):\n"
            "    from liger_kernel.transformers import apply_liger_kernel_to_llama\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
        Case("vllm>=0.6.3\n", filename="requirements.txt", lines=(1,)),
        Case(
            "python3 -m vllm.entrypoints.openai.api_server --model m\n"
            "python -m sglang.launch_server --model-path m\n",
            filename="serve.sh",
            lines=(1, 2),
        ),
        Case(
            "spec:\n  containers:\n  - name: llm\n    image: vllm/vllm-openai:v0.8.5\n",
            filename="deployment.yaml",
            lines=(4,),
        ),
        Case(
            'FROM docker.io/lmsysorg/sglang:latest\nCMD ["python"]\n',
            filename="Dockerfile",
            lines=(1,),
        ),
    ),
)

recognise(RULE, KERNEL_STACKS)


@RULE.keyword("use_liger_kernel", "use_liger")
def check(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find trainers that are told to patch their model."""
    if any(possible.value is True for possible in module.value(keyword.value)):
        yield module.hit(
            keyword,
            f"`{keyword.arg}` patches the model with Triton kernels: on a TPU its first step fails",
            "leave it out: the TPU compiler fuses these ops itself",
        )
