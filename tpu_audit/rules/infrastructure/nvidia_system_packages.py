"""TPA817: CUDA and NVIDIA's drivers installed on a machine or in an image."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Command, Document, Word
    from tpu_audit.rules.hit import Hit

_MANAGERS = frozenset(
    {"apt", "apt-get", "aptitude", "yum", "dnf", "microdnf", "tdnf", "zypper", "apk", "pacman"}
)
_VERBS = frozenset({"install", "add", "-S", "-Sy", "-Syu", "reinstall"})
_PACKAGE = re.compile(
    r"cuda(?:-[\w.$\{\}-]+)?|nvidia-(?:driver|cuda|container|docker|utils|headless|dkms|kernel|open"
    r"|fabricmanager|modprobe|settings|compute|gds)[\w.$\{\}-]*|libcud(?:nn|art)[\w.$\{\}-]*"
    r"|libnccl[\w.$\{\}-]*|libcu(?:blas|fft|rand|solver|sparse)[\w.$\{\}-]*|libnvidia-[\w.-]+"
    r"|libnv(?:infer|jpeg)[\w.-]*|libnpp[\w.-]*|datacenter-gpu-manager[\w.-]*|nsight-[\w.-]+"
)
_ADDRESS = re.compile(
    r"(?:developer|us)\.download\.nvidia\.com/(?:compute|tesla|XFree86)|nvidia\.github\.io/"
    r"(?:lib)?nvidia-(?:container|docker)"
)
_INSTALLER = re.compile(r"(?:\S*/)?(?:cuda_\d[\w.-]*|NVIDIA-Linux-\S+)\.run")
_FETCHERS = frozenset(
    {"wget", "curl", "apt-key", "add-apt-repository", "aria2c", "yum-config-manager"}
)
_OPERATOR = re.compile(
    r"nvidia/(?:gpu-operator|nvidia-device-plugin)|NVIDIA/k8s-device-plugin|helm\.ngc\.nvidia\.com"
    r"|nvdp/nvidia-device-plugin|nvidia-driver-installer"
)
_ACTION = re.compile(
    r"(?:Jimver/cuda-toolkit|N-Storm/cuda-toolkit|\S+/setup-cuda)@\S+", re.IGNORECASE
)

RULE = Rule(
    code="TPA817",
    name="nvidia-system-packages",
    severity=Severity.WARNING,
    words=(
        *("nvidia", "cuda", "nvidia*", "libcudnn*", "libnccl*", "libcu*", "libnv*", "datacenter"),
        *("cuda_*", "NVIDIA", "nsight", "libnpp"),
    ),
    docs=Docs(
        what="Finds NVIDIA's drivers, the CUDA toolkit, cuDNN and NCCL installed by `apt-get` and "
        "its like, downloads from NVIDIA's repositories, `.run` installers, and CI actions that "
        "set CUDA up.",
        why="A TPU host has no NVIDIA device: drivers fail to load, and the toolkit is gigabytes "
        "that nothing can use.",
        example="RUN apt-get update && apt-get install -y cuda-toolkit-12-4 libcudnn8",
        instead="Delete it: torch-tpu brings what it needs, libtpu, from PyPI.",
        references=(
            "https://docs.nvidia.com/cuda/cuda-installation-guide-linux/",
            "https://pypi.org/project/libtpu/",
        ),
    ),
    valid=(
        Case(
            "FROM python:3.12\nRUN apt-get update && apt-get install -y git libcurl4 cudd\n",
            filename="Dockerfile",
        ),
        Case(
            "# apt-get install -y cuda\napt-get remove -y nvidia-driver-535\npip install cuda\n",
            filename="setup.sh",
        ),
        Case(
            'echo "wget https://developer.download.nvidia.com/compute/cuda/"\ncd cuda_12\n',
            filename="i.sh",
        ),
        Case("wget https://developer.nvidia.com/blog/cuda\n", filename="i.sh"),
    ),
    invalid=(
        Case(
            "helm install --wait op nvidia/gpu-operator\nkubectl create -f https://raw."
            "githubusercontent.com/NVIDIA/k8s-device-plugin/v0.14.0/nvidia-device-plugin.yml\n",
            filename="cluster.sh",
            lines=(1, 2),
        ),
        Case(
            "FROM ubuntu:22.04\n"
            "RUN apt-get update && apt-get install -y --no-install-recommends \\\n"
            "    git cuda-toolkit-12-4 \\\n    libcudnn8=8.9.* \\\n"
            "    && rm -rf /var/lib/apt/lists/*\n",
            filename="Dockerfile",
            lines=(3, 4),
            columns=(9, 5),
        ),
        Case(
            "sudo apt install -y nvidia-driver-535 nvidia-container-toolkit\n"
            "sudo -E dnf -y install cuda\n"
            "wget -q https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/x86_64/"
            "cuda-keyring_1.1-1_all.deb\nsudo sh cuda_12.1.0_530.30.02_linux.run --silent\n",
            filename="setup.sh",
            lines=(1, 1, 2, 3, 4),
        ),
        Case(
            "on: push\njobs:\n  a:\n    steps:\n      - uses: Jimver/cuda-toolkit@v0.2.11\n"
            "      - run: |\n          sudo apt-get -y install libnccl2 libnccl-dev\n",
            filename=".github/workflows/a.yml",
            lines=(5, 7, 7),
        ),
        Case(
            "deps:\n\tsudo apt-get install nvidia-cuda-toolkit\n", filename="Makefile", lines=(2,)
        ),
    ),
)


@RULE.document("shell", "makefile", "dockerfile", "yaml", "json")
def check(document: Document) -> Iterator[Hit]:
    """Find installations in commands."""
    for command in document.commands:
        for word in _installed(command):
            message = f"`{word.text}` is NVIDIA's: nothing on a TPU host can use it"
            yield document.hit(word.span, message, "delete it", cause="packages")
        for word in _fetched(command):
            message = "this fetches CUDA or NVIDIA's drivers: nothing on a TPU host can use them"
            yield document.hit(word.span, message, "delete it", cause="downloads")


@RULE.document("ci")
def check_actions(document: Document) -> Iterator[Hit]:
    """Find CI actions."""
    for entry in document.entries:
        if entry.key == "uses" and _ACTION.fullmatch(str(entry.value)):
            message = f"`{entry.value}` installs CUDA: nothing on a TPU host can use it"
            yield document.hit(entry.span, message, "delete it", cause="actions")


def _installed(command: Command) -> list[Word]:
    if command.name not in _MANAGERS or not {word.text for word in command.words} & _VERBS:
        return []
    names = ((word, word.text.partition("=")[0]) for word in command.words[1:])
    return [word for word, name in names if _PACKAGE.fullmatch(name)]


def _fetched(command: Command) -> list[Word]:
    if command.name in _FETCHERS:
        return [word for word in command.words[1:] if _ADDRESS.search(word.text)][:1]
    if command.name in {"kubectl", "helm"}:
        return [word for word in command.words[1:] if _OPERATOR.search(word.text)][:1]
    runs = command.words[:1] if command.name not in {"sh", "bash"} else command.words[1:2]
    return [word for word in runs if _INSTALLER.fullmatch(word.text)]
