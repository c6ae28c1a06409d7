"""TPA615: libraries that run on NVIDIA GPUs only."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.libraries.device_packages import ENGINES, POINTS_AND_MESHES
from tpu_audit.rules.libraries.recognise import recognise, words
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_FAISS = (
    *("faiss.StandardGpuResources", "faiss.index_cpu_to_all_gpus", "faiss.GpuIndexFlatL2"),
    *("faiss.GpuIndexFlatIP", "faiss.GpuIndexIVFFlat", "faiss.index_cpu_to_gpu_multiple"),
)
_PROVIDERS = frozenset({"CUDAExecutionProvider", "TensorrtExecutionProvider"})

RULE = Rule(
    code="TPA615",
    name="nvidia-engine",
    severity=Severity.ERROR,
    words=(
        *words(ENGINES, POINTS_AND_MESHES),
        *sorted(_PROVIDERS),
        "faiss",
        "io_binding",
        "engine",
    ),
    docs=Docs(
        what="Finds libraries that run on NVIDIA GPUs only: TensorRT, ONNX Runtime and "
        "Faiss for GPU, CTranslate2, Transformer Engine, Unsloth, sparse convolutions, "
        "compiled ops of detection libraries, rendering kernels; and sessions of ONNX Runtime that "
        "ask for CUDA.",
        why="They have no backend for TPUs: they raise, or run on the host's CPU.",
        example="import torch_tensorrt\n\nmodel = torch_tensorrt.compile(model, inputs=[x])",
        instead="model = torch.compile(model)",
        references=(
            "https://docs.pytorch.org/docs/stable/generated/torch.compile.html",
            "https://docs.pytorch.org/docs/stable/accelerator.html",
        ),
    ),
    valid=(
        Case("import onnxruntime\nsession = onnxruntime.InferenceSession(path)\n"),
        Case(
            "import onnxruntime as ort\np = ort.get_available_providers()\n"
            "if 'CUDAExecutionProvider' in p:\n    print(p)\n"
        ),
        Case("import faiss\nindex = faiss.IndexFlatL2(64)\n"),
        Case("onnxruntime\nfaiss-cpu\n", filename="requirements.txt"),
        Case("from mmcv import Config\n"),
        Case("from detectron2.config import get_cfg\n"),
    ),
    invalid=(
        Case("model.export(format='engine', half=True)\n", lines=(1,)),
        Case("io = s.io_binding()\nio.bind_input('x', 'cuda', 0, t, shape, p)\n", lines=(2,)),
        Case(
            "import faiss\ndef up(i):\n    return faiss.index_cpu_to_all_gpus(i)\n"
            "if faiss.get_num_gpus() > 0:\n    index = up(index)\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
        Case(
            "import onnxruntime as ort\nP = ['CUDAExecutionProvider', 'CPUExecutionProvider']\n"
            "s = ort.InferenceSession(path, providers=P)\n",
            lines=(3,),
            severity=Severity.WARNING,
        ),
        Case("import faiss\nr = faiss.StandardGpuResources()\n", lines=(2,)),
        Case("import tensorrt as trt\n", lines=(1,), severity=Severity.ERROR),
        Case(
            "import faiss\ntry:\n    index = faiss.index_cpu_to_all_gpus(index)\n"
            "except Exception:\n    pass\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
        Case("from faster_whisper import WhisperModel\n", lines=(1,), severity=Severity.WARNING),
        Case(
            "def export(model):\n    try:\n        import tensorrt as trt\n"
            "    except ImportError:\n        install('tensorrt')\n"
            "        import tensorrt as trt\n    return trt\nexport(m)\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
        Case("import transformer_engine.pytorch as te\n", lines=(1,)),
        Case("from unsloth import FastLanguageModel\nimport torch\n", lines=(1,)),
        Case("from mmcv.ops import nms\n", lines=(1,)),
        Case("import pointnet2_ops._ext as _ext\nimport deform_conv_cuda\n", lines=(1, 2)),
        Case(
            "try:\n    import spconv.pytorch as spconv\nexcept ImportError:\n    spconv = None\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "def strip_qat(model):\n    from modelopt.torch.opt import conversion\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "def rasterise(v):\n    import nvdiffrast.torch as dr\n"
            "    return dr.RasterizeCudaContext()\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "onnxruntime-gpu==1.18\nfaiss-gpu-cu12\n",
            filename="requirements.txt",
            lines=(1, 2),
            severity=Severity.WARNING,
        ),
        Case(
            "pip install tensorrt-cu12 'unsloth[cu121] @ "
            "git+https://github.com/unslothai/unsloth.git'\n",
            filename="install.sh",
            lines=(1, 1),
        ),
        Case(
            "from setuptools import setup\nREQUIRED = ['numpy', 'spconv-cu118']\n"
            "setup(install_requires=REQUIRED)\n",
            filename="setup.py",
            lines=(2,),
        ),
    ),
)

recognise(RULE, (*ENGINES, *POINTS_AND_MESHES))


@RULE.method("bind_input", "bind_output")
def check_binding(call: ast.Call, _: ast.expr, module: Module) -> Iterator[Hit]:
    """Find buffers of a session that are bound to CUDA."""
    given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "device_type")]
    for node in given:
        if "cuda" in module.value(node).strings():
            yield module.hit(
                node,
                "ONNX Runtime has no CUDA on a TPU host: binding the buffer raises",
                "run the model with PyTorch, or on the CPU",
            )


@RULE.keyword("format")
def check_export(argument: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find ``model.export(format="engine")`` of Ultralytics."""
    call = module.parent(argument)
    exports = isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "export"
    if exports and "engine" in module.value(argument.value).strings():
        yield module.hit(
            argument,
            "the format `engine` is TensorRT's, which builds for NVIDIA GPUs alone",
            "run the PyTorch model with `torch.compile`",
            severity=Severity.INFO if module.backends.is_option(argument) else None,
        )


@RULE.keyword("providers")
def check_providers(argument: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find sessions of ONNX Runtime that ask for CUDA."""
    names = {getattr(item, "value", None) for item in module.elements(argument.value)}
    if names & _PROVIDERS:
        yield module.hit(
            argument.value,
            "ONNX Runtime has no CUDA on a TPU host: the session runs on the CPU",
            "run the PyTorch model itself, or ask for `CPUExecutionProvider` alone",
            severity=Severity.WARNING,
        )


@RULE.use(*_FAISS)
def check_faiss(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find indexes of Faiss on GPUs, whose package has the name of the one for CPUs."""
    yield module.hit(
        node,
        f"`{name}` needs Faiss for CUDA: a TPU host has none",
        "keep the index on the host, or search by `torch.matmul` and `topk`",
        severity=Severity.INFO if _is_optional(node, module) else None,
    )


def _is_optional(node: ast.expr, module: Module) -> bool:
    return module.context(node).caught or module.backends.owns(node)
