"""Serving and training stacks: what they become on a TPU, and what replaces them."""

from __future__ import annotations

from tpu_audit.rules.libraries.package import Package

_VLLM = (
    "serve with vLLM's TPU packages: `pip install vllm-tpu`, or `vllm-torchtpu` for TorchTPU, "
    "or the image `vllm/vllm-tpu`"
)
_PLAIN = "train with transformers' Trainer or a plain loop, sharded by `fully_shard` (FSDP2)"

KERNEL_STACKS = (
    Package(
        name="Liger Kernel",
        imports=("liger_kernel",),
        projects=("liger-kernel", "liger-kernel-nightly"),
        needs="Liger's kernels are Triton code: a patched model fails at its first step",
        instead="leave the model unpatched: the TPU compiler fuses these ops itself",
    ),
    Package(
        name="vLLM for CUDA",
        imports=("vllm",),
        projects=("vllm",),
        needs="PyPI's `vllm` is built for CUDA and finds no device",
        instead="install `vllm-tpu`, or `vllm-torchtpu` for TorchTPU: both are imported as `vllm`",
        commands=("vllm",),
        images=("vllm/vllm-openai", "vllm/vllm", "public.ecr.aws/q9t5s3a7/vllm"),
    ),
    Package(
        name="SGLang",
        imports=("sglang", "sgl_kernel"),
        projects=("sglang", "sgl-kernel", "sglang-kernel"),
        needs="SGLang's kernels are CUDA and Triton code: its server finds no device",
        instead="serve with SGLang-JAX (github.com/sgl-project/sglang-jax; "
        "`python -m sgl_jax.launch_server`) or with `vllm-tpu`",
        images=("lmsysorg/sglang",),
    ),
)
SERVING = (
    Package(
        name="Text Generation Inference",
        imports=("text_generation_server",),
        projects=("text-generation-server",),
        needs="TGI's image has kernels for CUDA and ROCm: its server finds no device",
        instead=f"{_VLLM}; clients of the OpenAI API need no change",
        commands=("text-generation-launcher", "text-generation-server"),
        images=("ghcr.io/huggingface/text-generation-inference",),
    ),
    Package(
        name="TensorRT-LLM",
        imports=("tensorrt_llm", "trtllm"),
        projects=("tensorrt-llm",),
        needs="TensorRT-LLM builds engines for NVIDIA GPUs alone",
        instead=_VLLM,
        commands=("trtllm-build", "trtllm-serve", "trtllm-bench"),
        images=("nvcr.io/nvidia/tensorrt-llm", "nvcr.io/nim"),
        words=("nim",),
    ),
    Package(
        name="LMDeploy",
        imports=("lmdeploy",),
        projects=("lmdeploy",),
        needs="LMDeploy's engines have no TPU backend: its server finds no device",
        instead=_VLLM,
        commands=("lmdeploy",),
        images=("openmmlab/lmdeploy",),
    ),
    Package(
        name="LightLLM and Aphrodite",
        imports=("lightllm", "aphrodite", "mii", "tabbyapi"),
        projects=("lightllm", "aphrodite-engine", "deepspeed-mii", "tabbyapi"),
        needs="its kernels are CUDA and Triton code: its server finds no device",
        instead=_VLLM,
    ),
    Package(
        name="Triton Inference Server",
        imports=("triton_python_backend_utils",),
        projects=(),
        needs="the server's images and instance groups are for NVIDIA GPUs: a model stays on the "
        "host's CPU",
        instead=f"{_VLLM}, or Ray Serve with the `TPU` resource",
        commands=("tritonserver",),
        images=("nvcr.io/nvidia/tritonserver",),
    ),
    Package(
        name="llm-d's CUDA image",
        needs="its model server is vLLM for CUDA and finds no device",
        instead="keep llm-d's router and give the model server vLLM's TPU image, "
        "`vllm/vllm-tpu`, with `google.com/tpu` resources",
        images=("ghcr.io/llm-d/llm-d-cuda", "ghcr.io/llm-d/llm-d:", "ghcr.io/llm-d/llm-d-dev"),
    ),
    Package(
        name="Text Embeddings Inference",
        needs="its image has kernels for CUDA: the server finds no device",
        instead="use the image for CPUs (tag `cpu-...`), or sentence-transformers on the TPU",
        images=("ghcr.io/huggingface/text-embeddings-inference",),
    ),
)
TRAINING = (
    Package(
        name="TorchTitan",
        imports=("torchtitan",),
        projects=("torchtitan",),
        needs="TorchTitan asks the module of the device for `set_device` and memory statistics, "
        "which `torch.tpu` refuses or lacks",
        instead="keep its models and its parallel plans, and drive them by a loop that calls "
        "`torch.accelerator`",
    ),
    Package(
        name="verl",
        imports=("verl",),
        projects=("verl",),
        needs="verl supports CUDA, ROCm and Ascend: TPUs are an open request",
        instead="use verl's hardware plugin for TPUs as it becomes ready "
        "(github.com/verl-project/verl-hardware-plugin), or TRL with `vllm-tpu` for the rollouts",
        images=("verlai/verl", "whatcanyousee/verl", "hiyouga/verl"),
    ),
    Package(
        name="OpenRLHF",
        imports=("openrlhf",),
        projects=("openrlhf",),
        needs="OpenRLHF trains with DeepSpeed and NCCL, which a TPU does not have",
        instead="use TRL with `vllm-tpu` for the rollouts",
    ),
    Package(
        name="Megatron",
        imports=("megatron", "megatron_core", "nemo.collections", "nemo_rl", "nemo_automodel"),
        projects=("megatron-core", "megatron-lm", "nemo-toolkit", "nemo-rl"),
        needs="Megatron is built on Transformer Engine, Apex and NCCL, which a TPU does not have",
        instead="shard a transformers model by DTensor and `fully_shard`, or train with MaxText",
        words=("megatron", "nemo"),
    ),
    Package(
        name="Colossal-AI",
        imports=("colossalai",),
        projects=("colossalai",),
        needs="Colossal-AI has accelerators for CUDA, NPU and CPU only",
        instead=_PLAIN,
    ),
    Package(
        name="Axolotl and LLaMA-Factory",
        imports=("axolotl", "llamafactory"),
        projects=("axolotl", "llamafactory"),
        needs="its recipes bring bitsandbytes, DeepSpeed and FlashAttention, and choose CUDA",
        instead="train the model with TRL's trainers, which are transformers' Trainer",
        commands=("axolotl", "llamafactory-cli"),
        images=("axolotlai/axolotl", "winglian/axolotl", "hiyouga/llamafactory"),
    ),
)
DEEPSPEED = (
    Package(
        name="DeepSpeed",
        imports=("deepspeed",),
        projects=("deepspeed",),
        needs="DeepSpeed has no accelerator for TPUs: it takes the CPU, and its ops do not build",
        instead="shard with `torch.distributed.fsdp.fully_shard` (FSDP2) and keep bfloat16",
        commands=("deepspeed",),
    ),
)
HUB_KERNELS = (
    Package(
        name="kernels",
        imports=("kernels",),
        projects=("kernels",),
        needs="most kernels of the hub are built for CUDA: without a variant for TPUs a layer "
        "keeps its plain code, or loading fails",
        instead="check that each kernel has a variant for TPUs, or leave the layers plain",
    ),
)
