"""TPA618: serving stacks without a TPU backend."""

from __future__ import annotations

from tpu_audit.rules.libraries.recognise import recognise, words
from tpu_audit.rules.libraries.stack_packages import SERVING
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

RULE = Rule(
    code="TPA618",
    name="gpu-serving-stack",
    severity=Severity.WARNING,
    words=words(SERVING),
    docs=Docs(
        what="Finds serving stacks that have no TPU backend: Text Generation Inference, "
        "TensorRT-LLM, LMDeploy, LightLLM, Triton Inference Server, llm-d's CUDA "
        "image, Text Embeddings Inference.",
        why="Their servers look for an NVIDIA device and find none. vLLM has TPU packages "
        "with the same OpenAI API.",
        example="services:\n  llm:\n    image: ghcr.io/huggingface/text-generation-inference:3.0",
        instead="services:\n  llm:\n    image: vllm/vllm-tpu:latest\n    command: vllm serve MODEL",
        references=(
            "https://docs.vllm.ai/projects/tpu/en/latest/",
            "https://github.com/llm-d/llm-d",
        ),
    ),
    valid=(
        Case("from text_generation import Client\n"),
        Case("image: vllm/vllm-tpu:latest\n", filename="pod.yaml"),
        Case("import tritonclient.http as client\n"),
        Case("image: ghcr.io/huggingface/text-embeddings-inference:cpu-1.7\n", filename="pod.yaml"),
    ),
    invalid=(
        Case("import tensorrt_llm\n", lines=(1,), severity=Severity.WARNING),
        Case("from lmdeploy import pipeline, TurbomindEngineConfig\n", lines=(1,)),
        Case(
            "services:\n  tgi:\n    image: ghcr.io/huggingface/text-generation-inference:2.4\n",
            filename="docker-compose.yml",
            lines=(3,),
        ),
        Case("FROM nvcr.io/nvidia/tritonserver:24.08-py3\n", filename="Dockerfile", lines=(1,)),
        Case(
            "modelService:\n  image: ghcr.io/llm-d/llm-d-cuda:v0.3.0\n",
            filename="values.yaml",
            lines=(2,),
        ),
        Case(
            "docker run -p 80:80 ghcr.io/huggingface/text-embeddings-inference:1.5 --model-id m\n",
            filename="serve.sh",
            lines=(1,),
        ),
        Case(
            "trtllm-build --checkpoint_dir c --output_dir e\n"
            "text-generation-launcher --model-id m\n",
            filename="serve.sh",
            lines=(1, 2),
        ),
    ),
)

recognise(RULE, SERVING)
