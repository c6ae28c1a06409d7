"""TPA802: CUDA installed by conda."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document, Requirement, Word
    from tpu_audit.rules.hit import Hit

_PACKAGE = re.compile(
    r"cudatoolkit(?:-dev|-feature)?|pytorch-(?:cuda|gpu|mutex)|cuda|cuda-[a-z-]+|cuda-version|cudnn"
    r"|nccl|cusparselt|cutensor|libcu(?:blas|fft|file|rand|solver|sparse|dnn)(?:-dev|-static)?"
    r"|libnvjitlink(?:-dev)?|libnvjpeg|libnpp|magma-cuda\d*|nvidia-cuda-[a-z]+|gpustat-cuda"
)
_NOT = frozenset({"cuda-python", "cuda-bindings", "cuda-core"})
"""Libraries of their own."""
_CHANNEL = re.compile(r"(?:https?://conda\.anaconda\.org/)?nvidia(?:/label/[\w.-]+)?")
_CONDA = frozenset({"conda", "mamba", "micromamba", "pixi"})
_ADVICE = "delete it, and install torch and torch-tpu with pip"

RULE = Rule(
    code="TPA802",
    name="conda-cuda",
    severity=Severity.WARNING,
    words=(
        *("cudatoolkit", "pytorch", "cuda", "nvidia", "cudnn", "nccl", "gpu", "cusparselt"),
        *("libcu*", "magma", "libnv*", "cutensor"),
    ),
    docs=Docs(
        what="Finds `cudatoolkit`, `pytorch-cuda`, `cudnn` and other packages of CUDA in conda "
        "environments and in `conda install`, builds of pytorch for CUDA, and the `nvidia` "
        "channel.",
        why="The environment holds gigabytes that a TPU cannot use; where its solver asks for a "
        "CUDA driver, it cannot be created on a TPU VM at all. torch-tpu comes from PyPI.",
        example="dependencies:\n  - pytorch\n  - pytorch-cuda=12.1",
        instead="dependencies:\n  - python=3.12\n  - pip\n  - pip:\n      - torch\n"
        "      - torch-tpu",
        references=(
            "https://docs.conda.io/projects/conda/en/stable/user-guide/tasks/manage-virtual.html",
            "https://pypi.org/project/torch-tpu/",
        ),
    ),
    valid=(
        Case(
            "channels: [conda-forge]\ndependencies:\n  - python=3.12\n  # - cudatoolkit=11.3\n"
            "  - pytorch=2.13=cpu_py312*\n  - cuda-python\n",
            filename="environment.yml",
        ),
        Case(
            "pip install cudnn-tools\nconda install pytorch cpuonly -c pytorch\n", filename="i.sh"
        ),
        Case("nvidia:\n  channels: [nvidia, amd]\ncuda: true\n", filename="conf.yaml"),
        Case("conda activate cuda\nmamba install -n nvidia numpy\n", filename="run.sh"),
    ),
    invalid=(
        Case(
            "mamba install pytorch pytorch-cuda=11.8 -c pytorch -c nvidia\n"
            "mamba install -c conda-forge cupy nccl cudatoolkit=11.8\n",
            filename="run.sh",
            lines=(1, 1, 2, 2),
            columns=(23, 55, 35, 40),
        ),
        Case(
            "name: x\nchannels:\n  - pytorch\n  - nvidia/label/cuda-11.8.0\ndependencies:\n"
            '  - "nvidia::cuda-toolkit"\n  - pytorch=2.1.0=py3.10_cuda11.8_cudnn8.7.0_0\n'
            "  - cudatoolkit = 11.3\n  - numpy\n",
            filename="environment.yml",
            lines=(4, 6, 7, 8),
        ),
        Case(
            "FROM mambaorg/micromamba\n"
            "RUN micromamba install -y -n base -c nvidia cuda-nvcc && \\\n"
            "    conda clean -a\n",
            filename="Dockerfile",
            lines=(2, 2),
        ),
        Case(
            "{name: y, channels: [nvidia, defaults], dependencies: [cudnn, {pip: [torch]}]}\n",
            filename="conda.yaml",
            lines=(1, 1),
        ),
        Case(
            '[tool.pixi.workspace]\nname = "a"\nchannels = ["nvidia", "conda-forge"]\n'
            '[tool.pixi.system-requirements]\ncuda = "12"\n',
            filename="pyproject.toml",
            lines=(3, 5),
        ),
    ),
)


@RULE.document()
def check_packages(document: Document) -> Iterator[Hit]:
    """Find packages of CUDA, and builds for it."""
    for item in document.requirements:
        if item.manager != "conda" or item.locked:
            continue
        if _is_cuda(item):
            yield document.hit(
                item.span,
                f"`{item.name}` brings CUDA, which a TPU host cannot use",
                _ADVICE,
                cause="packages",
            )


@RULE.document("conda", "pyproject")
def check_channels(document: Document) -> Iterator[Hit]:
    """Find the nvidia channel, and what pixi asks of the system."""
    for entry in document.entries:
        if entry.keys[-2:-1] == ("channels",) and _CHANNEL.fullmatch(entry.text()):
            yield document.hit(
                entry.span, "the `nvidia` channel serves CUDA alone", "delete it", cause="channel"
            )
        elif entry.keys[-2:] == ("system-requirements", "cuda"):
            yield document.hit(
                entry.key_span or entry.span,
                "pixi refuses to solve on a machine without a CUDA driver, such as a TPU VM",
                "delete it",
            )


@RULE.document("shell", "dockerfile", "makefile", "yaml", "ini")
def check_commands(document: Document) -> Iterator[Hit]:
    """Find the channel in commands."""
    for command in document.commands:
        words = command.words if command.name in _CONDA else ()
        for place, word in enumerate(words):
            if _CHANNEL.fullmatch(_channel(words, place)):
                message = "the `nvidia` channel serves CUDA alone"
                yield document.hit(word.span, message, "delete it", cause="channel")


def _channel(words: tuple[Word, ...], place: int) -> str:
    """Return the channel that a word names; empty where it names none."""
    head, equals, tail = words[place].text.partition("=")
    if equals and head in {"--channel", "-c"}:
        return tail
    before = words[place - 1].text if place else ""
    return words[place].text if before in {"-c", "--channel", "--add"} else ""


def _is_cuda(item: Requirement) -> bool:
    if item.name in _NOT:
        return False
    if _PACKAGE.fullmatch(item.name):
        return True
    return re.search(r"=.*(?:cuda|gpu)", item.specifier) is not None
