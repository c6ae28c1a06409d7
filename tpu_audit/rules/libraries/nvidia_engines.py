"""TPA615: libraries that run on NVIDIA GPUs only."""

from __future__ import annotations

from tpu_audit.rules.libraries.device_packages import ENGINES, POINTS_AND_MESHES
from tpu_audit.rules.libraries.recognise import recognise, words
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

RULE = Rule(
    code="TPA615",
    name="nvidia-engine",
    severity=Severity.ERROR,
    words=words(ENGINES, POINTS_AND_MESHES),
    docs=Docs(
        what="Finds libraries that run on NVIDIA GPUs only: TensorRT, ONNX Runtime and "
        "Faiss for GPU, CTranslate2, Transformer Engine, Unsloth, sparse convolutions, "
        "compiled ops of detection libraries, rendering kernels.",
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
        Case("import faiss\nindex = faiss.IndexFlatL2(64)\n"),
        Case("onnxruntime\nfaiss-cpu\n", filename="requirements.txt"),
        Case("from mmcv import Config\n"),
        Case("from detectron2.config import get_cfg\n"),
    ),
    invalid=(
        Case("import tensorrt as trt\n", lines=(1,), severity=Severity.ERROR),
        Case("import transformer_engine.pytorch as te\n", lines=(1,)),
        Case("from unsloth import FastLanguageModel\nimport torch\n", lines=(1,)),
        Case("from mmcv.ops import nms\n", lines=(1,)),
        Case(
            "try:\n    import spconv.pytorch as spconv\nexcept ImportError:\n    spconv = None\n",
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
