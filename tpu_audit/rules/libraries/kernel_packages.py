"""Libraries of CUDA kernels: attention, quantisation, optimizers, state spaces, graphs."""

from __future__ import annotations

from tpu_audit.rules.libraries.package import Package

CUDA_PYTHON = (
    Package(
        name="CuPy",
        imports=("cupy", "cupyx"),
        projects=("cupy", "cupy-*"),
        needs="CuPy finds no CUDA driver: its first call raises",
        instead="write the array code with torch, which runs on the TPU, or with numpy on the host",
    ),
    Package(
        name="PyCUDA",
        imports=("pycuda",),
        projects=("pycuda",),
        needs="PyCUDA has no CUDA driver to load: importing `pycuda.driver` fails",
        instead="write the kernel as torch ops, or in Pallas through `torch.tpu.pallas.jax_op`",
        builds=True,
    ),
    Package(
        name="Numba's CUDA target",
        imports=("numba.cuda",),
        projects=("numba-cuda",),
        needs="kernels of `numba.cuda` have no device to run on: launching one raises",
        instead="write the kernel as torch ops, or in Pallas through `torch.tpu.pallas.jax_op`",
    ),
    Package(
        name="CUDA Python",
        imports=(
            *("cuda.cuda", "cuda.cudart", "cuda.nvrtc", "cuda.bindings", "cuda.core"),
            *("cuda.cooperative", "cuda.parallel", "cuda.tile", "pynvrtc"),
        ),
        projects=("cuda-python", "cuda-bindings", "cuda-core", "pynvrtc", "cuda-tile"),
        needs="the CUDA driver is missing: its first call fails",
        instead="use `torch.accelerator` for devices, and torch ops or Pallas for kernels",
        words=("cudart", "nvrtc", "cp"),
    ),
    Package(
        name="RAPIDS",
        imports=("cudf", "cuml", "cugraph", "rmm", "dask_cudf", "dask_cuda", "cuspatial", "cuvs"),
        projects=(
            *("cudf-*", "cuml-*", "cugraph-*", "rmm-*", "dask-cudf-*", "dask-cuda", "cuvs-*"),
            *("cudf", "cuml", "cugraph", "rmm", "rapids"),
        ),
        needs="RAPIDS has no GPU to run on: its import fails",
        instead="use pandas or polars, scikit-learn and networkx on the host",
    ),
)
TRITON = (
    Package(
        name="Triton",
        imports=("triton",),
        projects=("triton", "pytorch-triton", "triton-nightly"),
        needs="there is no Triton backend for TPUs: a kernel fails when it is launched",
        instead="write torch ops and `torch.compile` them, or a Pallas kernel through "
        "`torch.tpu.pallas.jax_op`",
    ),
)
FLASH_ATTENTION = (
    Package(
        name="FlashAttention",
        imports=(
            *("flash_attn", "flash_attn_interface", "flash_attn_2_cuda", "flash_attn_3"),
            *("flash_attn_cuda", "hopper.flash_attn_interface"),
        ),
        projects=("flash-attn", "flash-attention", "flash-attn-3", "flash-attn-4"),
        needs="FlashAttention's kernels are CUDA code: it neither builds nor imports",
        instead="call `torch.nn.functional.scaled_dot_product_attention`, which runs as a flash "
        "kernel on TPUs",
        builds=True,
    ),
    Package(
        name="Ring FlashAttention",
        imports=("ring_flash_attn", "yunchang"),
        projects=("ring-flash-attn", "ring-flash-attention", "yunchang"),
        needs="it wraps FlashAttention's CUDA kernels: its import fails",
        instead="use PyTorch's context parallelism, or shard the sequence with DTensor",
    ),
    Package(
        name="FlashInfer",
        imports=("flashinfer",),
        projects=("flashinfer", "flashinfer-python", "flashinfer-*"),
        needs="FlashInfer compiles CUDA kernels at run time: its calls fail",
        instead="call `torch.nn.functional.scaled_dot_product_attention`, or serve with vLLM's "
        "TPU packages, which have paged attention of their own",
    ),
    Package(
        name="SageAttention",
        imports=("sageattention", "sageattn3", "spas_sage_attn"),
        projects=("sageattention",),
        needs="SageAttention's kernels are CUDA and Triton code: its calls fail",
        instead="call `torch.nn.functional.scaled_dot_product_attention`",
        builds=True,
    ),
    Package(
        name="FlashMLA",
        imports=("flash_mla",),
        projects=("flash-mla", "flashmla"),
        needs="FlashMLA's kernels are CUDA code: its import fails",
        instead="call `torch.nn.functional.scaled_dot_product_attention`",
        builds=True,
    ),
)
XFORMERS = (
    Package(
        name="xFormers",
        imports=("xformers",),
        projects=("xformers",),
        words=("xops",),
        needs="xFormers has CUDA kernels only: `memory_efficient_attention` raises",
        instead="call `torch.nn.functional.scaled_dot_product_attention`; mind that it takes heads "
        "before the sequence, `(batch, heads, length, dim)`",
    ),
)
BITSANDBYTES = (
    Package(
        name="bitsandbytes",
        imports=("bitsandbytes",),
        projects=("bitsandbytes",),
        words=("bnb",),
        needs="bitsandbytes has no kernels for TPUs: its layers and optimizers raise",
        instead="keep weights in bfloat16, quantise with torchao, and use `torch.optim`",
    ),
)
APEX = (
    Package(
        name="Apex",
        imports=("apex", "amp_C", "apex_C", "fused_layer_norm_cuda", "fused_adam_cuda"),
        projects=("apex", "nvidia-apex"),
        needs="Apex is a CUDA extension: it neither builds nor imports",
        instead="use `torch.autocast` with bfloat16, `torch.optim`, `torch.nn.LayerNorm` and "
        "`torch.nn.parallel.DistributedDataParallel`",
        builds=True,
    ),
)
STATE_SPACES = (
    Package(
        name="mamba-ssm",
        imports=("mamba_ssm", "selective_scan_cuda"),
        projects=("mamba-ssm", "mamba"),
        needs="its selective scan is CUDA and Triton code: it neither builds nor imports",
        instead="use the model of transformers, which has the same scan in plain torch",
        builds=True,
    ),
    Package(
        name="causal-conv1d",
        imports=("causal_conv1d", "causal_conv1d_cuda"),
        projects=("causal-conv1d",),
        needs="it is a CUDA extension: it neither builds nor imports",
        instead="use `torch.nn.Conv1d` with `groups=channels` and padding on the left",
        builds=True,
    ),
    Package(
        name="flash-linear-attention",
        imports=("fla", "flash_linear_attention"),
        projects=("flash-linear-attention", "fla-core"),
        needs="its kernels are Triton code: a call fails",
        instead="use the model of transformers, which has the recurrence in plain torch",
    ),
    Package(
        name="RWKV's CUDA kernel",
        imports=("wkv_cuda", "rwkv"),
        projects=("rwkv",),
        needs="its CUDA kernel cannot be built: only the slow path in plain torch is left",
        instead="use the RWKV model of transformers with the plain path",
    ),
)
GRAPHS = (
    Package(
        name="sums of PyTorch Geometric's `torch_scatter`",
        imports=(
            *("torch_scatter.scatter_add", "torch_scatter.scatter_sum"),
            *("torch_scatter.scatter_mean", "torch_scatter.scatter_std", "torch_scatter.scatter"),
        ),
        needs="they run as `Tensor.scatter_add_`, but the package is a compiled extension, with "
        "wheels for CUDA's and the CPU's builds of torch alone",
        instead="use `torch_geometric.utils.scatter` or `Tensor.index_add_`",
        runs_on_host=True,
    ),
    Package(
        name="PyTorch Geometric's extensions",
        imports=("torch_scatter", "torch_sparse", "torch_cluster", "torch_spline_conv", "pyg_lib"),
        projects=("torch-scatter", "torch-sparse", "torch-cluster", "torch-spline-conv", "pyg-lib"),
        needs="the compiled ops have kernels for CPU and CUDA only: a call with TPU tensors raises",
        instead="use `torch_geometric.utils.scatter`, `Tensor.index_add_` or "
        "`Tensor.scatter_reduce_`, and build neighbourhoods on the host",
    ),
    Package(
        name="DGL",
        imports=("dgl",),
        projects=("dgl", "dgl-*"),
        needs="DGL's message passing has kernels for CPU and CUDA only: a call with TPU tensors "
        "raises",
        instead="use PyTorch Geometric without its extensions, with `Tensor.index_add_` for sums",
    ),
)
MONITORS = (
    Package(
        name="NVML",
        imports=("pynvml", "py3nvml", "nvidia_smi", "nvsmi"),
        projects=("pynvml", "nvidia-ml-py", "nvidia-ml-py3", "py3nvml", "nvsmi"),
        needs="there is no NVIDIA driver to ask: `nvmlInit` raises",
        instead="use `torch.accelerator.memory_allocated` and its like, and `torch.profiler`",
    ),
    Package(
        name="GPUtil",
        imports=("GPUtil",),
        projects=("gputil",),
        needs="it reads `nvidia-smi`, which is missing: it sees no device",
        instead="use `torch.accelerator.device_count` and `torch.accelerator.memory_allocated`",
        words=("GPUtil",),
    ),
    Package(
        name="nvidia-smi",
        needs="there is no NVIDIA driver: it is not found",
        instead="use `tpu-info` on the host, or `torch.profiler`",
        commands=("nvidia-smi", "dcgmi"),
        words=("smi",),
    ),
    Package(
        name="nvitop",
        imports=("nvitop",),
        projects=("nvitop",),
        needs="there is no NVIDIA driver to ask: it shows nothing",
        instead="use `tpu-info` on the host, or `torch.profiler`",
        commands=("nvitop",),
    ),
    Package(
        name="gpustat",
        imports=("gpustat",),
        projects=("gpustat",),
        needs="there is no NVIDIA driver to ask: it shows nothing",
        instead="use `tpu-info` on the host, or `torch.profiler`",
        commands=("gpustat",),
    ),
)
