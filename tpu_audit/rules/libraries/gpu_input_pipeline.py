"""TPA613: input pipelines on NVIDIA devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.libraries.device_packages import PIPELINES
from tpu_audit.rules.libraries.recognise import recognise, words
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

RULE = Rule(
    code="TPA613",
    name="gpu-input-pipeline",
    severity=Severity.ERROR,
    words=(*words(PIPELINES), "decord"),
    docs=Docs(
        what="Finds input pipelines on NVIDIA devices: DALI, CV-CUDA, nvJPEG, NVDEC, "
        "KvikIO, and decord's GPU context.",
        why="There is no NVIDIA device to decode on. TPU hosts have many cores: decode and "
        "augment there.",
        example="from nvidia.dali import pipeline_def",
        instead="loader = torch.utils.data.DataLoader(dataset, num_workers=16)",
        references=(
            "https://docs.pytorch.org/docs/stable/data.html",
            "https://docs.pytorch.org/torchcodec/stable/index.html",
        ),
    ),
    valid=(
        Case("from decord import VideoReader, cpu\nreader = VideoReader(path, ctx=cpu(0))\n"),
        Case("from torchcodec.decoders import VideoDecoder\n"),
        Case("torchcodec\ndecord\n", filename="requirements.txt"),
    ),
    invalid=(
        Case("from nvidia.dali import pipeline_def, fn\n", lines=(1,), severity=Severity.ERROR),
        Case("import cvcuda\n", lines=(1,)),
        Case(
            "import decord\nreader = decord.VideoReader(path, ctx=decord.gpu(0))\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "from decord import VideoReader, gpu\nreader = VideoReader(path, ctx=gpu(0))\n",
            lines=(2,),
        ),
        Case(
            "try:\n    import nvidia.dali.fn as fn\nexcept ImportError:\n    fn = None\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "nvidia-dali-cuda120==1.40\n",
            filename="requirements.txt",
            lines=(1,),
            severity=Severity.WARNING,
        ),
    ),
)

recognise(RULE, PIPELINES)


@RULE.call("decord.gpu")
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find videos that decord is to decode on a GPU."""
    yield module.hit(
        call,
        f"`{name}` asks for NVDEC: on a TPU host decoding raises",
        "write `decord.cpu(0)`",
    )
