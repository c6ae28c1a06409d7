"""Libraries of quantised CUDA kernels."""

from __future__ import annotations

from tpu_audit.rules.libraries.package import Package

_INSTEAD = "load the unquantised checkpoint in bfloat16, or quantise it with torchao"
QUANTIZERS = (
    Package(
        name="AutoGPTQ",
        imports=("auto_gptq", "autogptq_cuda_64", "autogptq_cuda_256", "autogptq_extension"),
        projects=("auto-gptq", "autogptq"),
        needs="its 4-bit kernels are CUDA code: it neither builds nor runs",
        instead=_INSTEAD,
        builds=True,
    ),
    Package(
        name="GPTQModel",
        imports=("gptqmodel",),
        projects=("gptqmodel",),
        needs="its kernels are for CUDA, CPU and a few others, not for TPUs: a quantised layer "
        "raises",
        instead=_INSTEAD,
        builds=True,
    ),
    Package(
        name="AutoAWQ",
        imports=("awq", "awq_ext", "awq_inference_engine", "awq_v2_ext"),
        projects=("autoawq", "autoawq-kernels", "awq", "llm-awq"),
        needs="its 4-bit kernels are CUDA and Triton code: a quantised layer raises",
        instead=_INSTEAD,
    ),
    Package(
        name="ExLlama",
        imports=("exllama_kernels", "exllamav2_kernels", "exllamav2", "exllamav3", "exllama"),
        projects=("exllama", "exllamav2", "exllamav3"),
        needs="ExLlama is a CUDA extension: it neither builds nor imports",
        instead=_INSTEAD,
        builds=True,
    ),
    Package(
        name="AQLM",
        imports=("aqlm",),
        projects=("aqlm",),
        needs="its kernels are CUDA and Triton code: a quantised layer raises",
        instead=_INSTEAD,
    ),
    Package(
        name="EETQ",
        imports=("eetq", "EETQ"),
        projects=("eetq",),
        needs="EETQ is a CUDA extension: it neither builds nor imports",
        instead=_INSTEAD,
        builds=True,
    ),
    Package(
        name="HQQ's CUDA kernels",
        imports=("hqq_aten", "hqq_kernels"),
        projects=("hqq-aten",),
        needs="they are CUDA code and cannot be built",
        instead="use HQQ's plain PyTorch backend, or quantise with torchao",
        builds=True,
    ),
    Package(
        name="FBGEMM GPU",
        imports=("fbgemm_gpu",),
        projects=("fbgemm-gpu", "fbgemm-gpu-*"),
        needs="its ops have kernels for CPU and CUDA only: a call with TPU tensors raises",
        instead="use torch's own embedding bags, and torchao or `torch._scaled_mm` for FP8",
    ),
    Package(
        name="VPTQ, SpQR and HIGGS kernels",
        imports=(
            "vptq",
            "spqr_quant",
            "flute",
            "quiptools_cuda",
            "qserve_backend",
            "fast_hadamard_transform",
        ),
        projects=("vptq", "spqr-quant", "flute-kernel", "quip-tools", "fast-hadamard-transform"),
        needs="its kernels are CUDA code: a quantised layer raises",
        instead=_INSTEAD,
        builds=True,
    ),
)
