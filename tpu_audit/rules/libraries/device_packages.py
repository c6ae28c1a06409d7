"""Libraries that run on NVIDIA devices only: input pipelines, inference engines, 3D, vision."""

from __future__ import annotations

from tpu_audit.rules.libraries.package import Package

PIPELINES = (
    Package(
        name="NVIDIA DALI",
        imports=("nvidia.dali",),
        projects=("nvidia-dali", "nvidia-dali-*", "nvidia-dali-cuda*"),
        needs="DALI's pipelines have no GPU to run on",
        instead="decode and augment on the host: `torch.utils.data.DataLoader` with torchvision, "
        "or Grain",
        words=("dali",),
    ),
    Package(
        name="CV-CUDA and nvJPEG",
        imports=("cvcuda", "nvcv", "nvjpeg", "nvidia.nvimgcodec", "nvidia.nvjpeg2k", "cucim"),
        projects=(
            "cvcuda",
            "cvcuda-*",
            "nvjpeg",
            "pynvjpeg",
            "nvidia-nvimgcodec-*",
            "cucim",
            "cucim-*",
        ),
        needs="images cannot be decoded or changed on a GPU: its calls raise",
        instead="decode on the host with torchvision or Pillow",
        words=("nvimgcodec", "nvjpeg2k"),
    ),
    Package(
        name="NVIDIA's video codecs",
        imports=("PyNvVideoCodec", "PyNvCodec", "nvidia_video_codec"),
        projects=("pynvvideocodec", "pynvcodec", "vpf"),
        needs="there is no NVDEC: decoding raises",
        instead="decode on the host with torchcodec or PyAV",
        words=("PyNvVideoCodec",),
    ),
    Package(
        name="KvikIO",
        imports=("kvikio",),
        projects=("kvikio", "kvikio-*"),
        needs="GPUDirect Storage has no GPU to write to",
        instead="read on the host, with `mmap` or safetensors",
    ),
)
ENGINES = (
    Package(
        name="NVIDIA Model Optimizer",
        imports=("modelopt",),
        projects=("nvidia-modelopt", "nvidia-modelopt-*"),
        needs="its quantised layers and exports are made for CUDA and TensorRT",
        instead="keep the model in bfloat16, or quantise it with torchao",
        words=("modelopt",),
    ),
    Package(
        name="TensorRT",
        imports=(
            "tensorrt",
            "torch_tensorrt",
            "torch2trt",
            "polygraphy",
            "trt_pose",
            "tensorrt_rtx",
        ),
        projects=("tensorrt", "tensorrt-*", "torch-tensorrt", "torch2trt", "nvidia-tensorrt"),
        needs="TensorRT builds engines for NVIDIA GPUs alone",
        instead="run the PyTorch model with `torch.compile`",
        commands=("trtexec",),
    ),
    Package(
        name="ONNX Runtime for GPU",
        projects=("onnxruntime-gpu", "onnxruntime-training"),
        needs="its CUDA provider cannot load: the session runs on the host's CPU",
        instead="run the PyTorch model itself; for inference on the host install `onnxruntime`",
    ),
    Package(
        name="Faiss for GPU",
        projects=("faiss-gpu", "faiss-gpu-*"),
        needs="its GPU indexes have no device",
        instead="install `faiss-cpu`, or search with `torch.topk` over a matrix product",
        words=("faiss",),
    ),
    Package(
        name="CTranslate2",
        imports=("ctranslate2", "faster_whisper", "whisperx"),
        projects=("ctranslate2", "faster-whisper", "whisperx"),
        needs="CTranslate2 runs on CPUs and NVIDIA GPUs: it can use the host's CPU only",
        instead="run the PyTorch model with transformers",
        runs_on_host=True,
    ),
    Package(
        name="Transformer Engine",
        imports=("transformer_engine", "transformer_engine_torch", "transformer_engine_extensions"),
        projects=("transformer-engine", "transformer-engine-*", "transformerengine"),
        needs="Transformer Engine is a CUDA extension: it neither builds nor imports",
        instead="use torch's own layers in bfloat16, or torchao for FP8",
        builds=True,
    ),
    Package(
        name="Unsloth",
        imports=("unsloth", "unsloth_zoo"),
        projects=("unsloth", "unsloth-zoo"),
        needs="Unsloth asks for a CUDA, ROCm or XPU device at import, and raises",
        instead="load the model with transformers and PEFT, and train with TRL",
    ),
    Package(
        name="DeepEP or NVSHMEM",
        imports=("deep_ep", "nvshmem"),
        projects=("deep-ep",),
        needs="its transport is CUDA code over NVLink and RDMA: it neither builds nor runs",
        instead="use the collectives of `torch.distributed`, `all_to_all_single` among them",
        builds=True,
    ),
    Package(
        name="a library of grouped or FP8 products for CUDA",
        imports=("deep_gemm", "cutlass", "grouped_gemm", "megablocks"),
        projects=(
            *("deep-gemm", "deepgemm", "nvidia-cutlass", "nvidia-cutlass-dsl", "grouped-gemm"),
            "megablocks",
        ),
        needs="its kernels are CUDA code: it neither builds nor runs",
        instead="use `torch.matmul`, `torch._grouped_mm` or `torch._scaled_mm`",
        builds=True,
    ),
)
POINTS_AND_MESHES = (
    Package(
        name="sparse 3D convolutions",
        imports=("spconv", "MinkowskiEngine", "torchsparse"),
        projects=("spconv", "spconv-*", "minkowskiengine", "torchsparse"),
        needs="its convolutions are CUDA kernels: it neither builds nor runs",
        instead="use dense `torch.nn.Conv3d` on a bounded grid, or gather and `index_add_`",
        builds=True,
        words=("MinkowskiEngine",),
    ),
    Package(
        name="OpenMMLab's compiled ops",
        imports=("mmcv.ops", "mmcv._ext", "mmdet3d.ops"),
        projects=("mmcv-full",),
        needs="the compiled ops have kernels for CPU and CUDA only: a call with TPU tensors raises",
        instead="use torchvision's ops on the host, or write the op with torch",
        builds=True,
    ),
    Package(
        name="Detectron2's compiled ops",
        imports=("detectron2._C", "detectron2.layers"),
        projects=("detectron2",),
        needs="the compiled ops have kernels for CPU and CUDA only: a call with TPU tensors raises",
        instead="use the detection models of transformers, which are plain torch",
        builds=True,
    ),
    Package(
        name="a project's compiled CUDA ops",
        imports=(
            *("pointnet2_ops", "pointops_cuda", "knn_cuda", "chamfer_3D", "emd_cuda"),
            *("MultiScaleDeformableAttention", "deform_conv_cuda", "dcn_v2_cuda", "nms_cuda"),
            *("roi_align_cuda", "iou3d_nms_cuda", "roiaware_pool3d_cuda", "alt_cuda_corr"),
            *("correlation_cuda", "resample2d_cuda", "channelnorm_cuda", "upfirdn2d_cuda"),
            *("selective_scan_cuda_core", "selective_scan_cuda_oflex", "wkv_cuda"),
        ),
        projects=("pointnet2-ops", "knn-cuda"),
        needs="its ops are CUDA code: it neither builds nor runs",
        instead="write the op with torch, or in Pallas through `torch.tpu.pallas.jax_op`",
        builds=True,
    ),
    Package(
        name="PyTorch3D",
        imports=("pytorch3d",),
        projects=("pytorch3d",),
        needs="its renderers and point ops are compiled for CPU and CUDA only: a call with TPU "
        "tensors raises",
        instead="run these steps on the host, or write them with torch",
        builds=True,
    ),
    Package(
        name="neural rendering kernels",
        imports=(
            *("tinycudann", "nvdiffrast", "kaolin", "gsplat", "diff_gaussian_rasterization"),
            *("simple_knn", "nerfacc", "raymarching", "cumm", "curobo"),
        ),
        projects=(
            *("tiny-cuda-nn", "tinycudann", "nvdiffrast", "kaolin", "gsplat", "warp-lang"),
            *("diff-gaussian-rasterization", "simple-knn", "nerfacc"),
        ),
        needs="its kernels are CUDA code: it neither builds nor runs",
        instead="write the encoding or the rasteriser with torch, or in Pallas through "
        "`torch.tpu.pallas.jax_op`",
        builds=True,
    ),
)
