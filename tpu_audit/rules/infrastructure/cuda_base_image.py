"""TPA803: container images made for NVIDIA GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.infrastructure.images import images, kind_of
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_ADVICE = (
    "start from a plain Python image, such as `python:3.12-slim`, and `pip install torch torch-tpu`"
)

RULE = Rule(
    code="TPA803",
    name="cuda-base-image",
    severity=Severity.ERROR,
    words=(
        "nvidia",
        "nvcr",
        "pytorch",
        "deepspeed",
        "cuda*",
        "cudnn*",
        "gpu",
        ":cu*",
        "-cu*",
        ".cu*",
    ),
    docs=Docs(
        what="Finds `FROM`, `image:` and `docker run` with an image made for NVIDIA GPUs: "
        "`nvidia/cuda`, everything of `nvcr.io`, `pytorch/pytorch`, tags with `cuda` or `cu121`. "
        "In CI, in variables and where only the name says `gpu` it counts as a warning.",
        why="The image brings gigabytes of CUDA libraries and a PyTorch built against them, often "
        "of a version that torch-tpu does not take, and libtpu is missing from it.",
        example="FROM nvcr.io/nvidia/pytorch:24.05-py3",
        instead="FROM python:3.12-slim\nRUN pip install torch torch-tpu",
        references=(
            "https://catalog.ngc.nvidia.com/orgs/nvidia/containers/pytorch",
            "https://hub.docker.com/r/nvidia/cuda",
            "https://pypi.org/project/torch-tpu/",
        ),
    ),
    valid=(
        Case("FROM python:3.12-slim\nRUN pip install torch torch-tpu\n", filename="Dockerfile"),
        Case(
            "# FROM nvidia/cuda:12.1.0-base\nFROM python:3.12 AS cuda\nFROM cuda\n",
            filename="Dockerfile",
        ),
        Case("FROM rocm/pytorch:latest\nFROM ubuntu:22.04\n", filename="docker/amd.Dockerfile"),
        Case("docker run -v /usr/local/cuda-12:/opt/cuda python:3.12 ls\n", filename="run.sh"),
        Case(
            "CUDA_HOME=/usr/local/cuda-12.1\nLD_LIBRARY_PATH=$CUDA_HOME/lib64:/opt/cuda-12/lib\n"
            "docker push me/train-gpu:1\ndocker build -t me/a-gpu:1 -f docker/Dockerfile.gpu .\n",
            filename="env.sh",
        ),
        Case("image: data/cuda-2/picture.png\n", filename="page.yaml"),
        Case("MODEL=nvidia/Nemotron-Mini-4B-Instruct\npython serve.py\n", filename="serve.sh"),
        Case('{"image": "barracuda/app:1.0", "gpu": 1}\n', filename="app.json"),
    ),
    invalid=(
        Case(
            "FROM nvcr.io/nvidia/pytorch:23.04-py3\nRUN pip install einops\n",
            filename="Dockerfile",
            lines=(1,),
            columns=(6,),
        ),
        Case(
            "# TODO: switch to nvcr.io/nvidia/pytorch:23.05-py3\n"
            "FROM --platform=linux/amd64 pytorch/pytorch:2.0.1-cuda11.7-cudnn8-devel\n",
            filename="Dockerfile",
            lines=(2,),
        ),
        Case(
            "ARG CUDA=12.4.1\nARG BASE=nvidia/cuda:${CUDA}-devel-ubuntu22.04\n"
            "FROM ${BASE} AS build\nFROM build\n",
            filename="docker/train.Dockerfile",
            lines=(3,),
        ),
        Case(
            "services:\n  app: {image: 'docker.io/nvidia/cuda:12.3.1-base-ubuntu20.04'}\n",
            filename="compose.yaml",
            lines=(2,),
        ),
        Case(
            "image:\n  repository: nvcr.io/nvidia/tritonserver\n  tag: 24.01-py3\n",
            filename="chart/values.yaml",
            lines=(2,),
        ),
        Case(
            '{\n  // editor\n  "image": "mcr.microsoft.com/devcontainers/pytorch:cuda-12",\n}\n',
            filename=".devcontainer/devcontainer.json",
            lines=(3,),
        ),
        Case(
            "on: push\njobs:\n  t:\n    container: pytorch/pytorch:2.4.0-cuda12.1-cudnn9-runtime\n",
            filename=".github/workflows/test.yml",
            lines=(4,),
            severity=Severity.WARNING,
        ),
        Case(
            "BASE_IMAGE=nvidia/cuda:12.1.1-devel-ubuntu22.04\n"
            "docker build --build-arg BASE=$BASE_IMAGE .\n",
            filename="build.sh",
            lines=(1,),
            severity=Severity.WARNING,
        ),
        Case("FROM deepspeed/deepspeed:latest\n", filename="Dockerfile", lines=(1,)),
        Case(
            "environment: azureml://registries/azureml/environments/acpt-pytorch-2.2-cuda12.1\n",
            filename="job.yml",
            lines=(1,),
        ),
        Case(
            "apptainer exec --nv docker://nvcr.io/nvidia/pytorch:24.01-py3 python train.py\n",
            filename="job.sh",
            lines=(1,),
        ),
        Case(
            "import modal\n"
            'image = modal.Image.from_registry("nvidia/cuda:12.4.0-devel-ubuntu22.04")\n',
            lines=(2,),
            severity=Severity.WARNING,
        ),
    ),
)


@RULE.document()
def check(document: Document) -> Iterator[Hit]:
    """Find the images."""
    in_ci = "ci" in document.flavours
    for image in images(document):
        kind = kind_of(image.name)
        if kind is None:
            continue
        certain = image.base and not in_ci and kind != "an image for GPUs"
        yield document.hit(
            image.span,
            f"`{image.name}` is {kind}: nothing in it serves a TPU",
            _ADVICE,
            severity=Severity.ERROR if certain else Severity.WARNING,
            cause=kind,
        )


@RULE.string("nvcr.io/", "nvidia/cuda:", "pytorch/pytorch:")
def check_python(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find images that Python code starts."""
    name = str(constant.value)
    kind = kind_of(name) if name.strip() == name else None
    if kind is not None and ":" in name:
        yield module.hit(
            constant,
            f"`{name}` is {kind}: nothing in it serves a TPU",
            _ADVICE,
            severity=Severity.WARNING,
            cause=kind,
        )
