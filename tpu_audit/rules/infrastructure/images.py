"""Container images, wherever a file names them, and which of them are made for NVIDIA GPUs."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpu_audit.rules.hit import Span
from tpu_audit.rules.infrastructure.environment import variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Command, Document, Entry, Word

_KEYS = frozenset(
    {
        *("image", "container", "base_image", "baseImage", "docker_image", "dockerImage"),
        *("image_uri", "imageUri", "container_image", "containerImage", "container_uri"),
        *("image_id", "docker", "from_image", "default_image", "base-image", "worker_image"),
    }
)
_PROGRAMS = frozenset(
    {"docker", "podman", "nerdctl", "singularity", "apptainer", "enroot", "nvidia-docker"}
)
_SLURM = frozenset({"srun", "sbatch", "salloc", "#SBATCH"})
_WITH_VALUE = frozenset(
    {
        *("-v", "--volume", "--mount", "-w", "--workdir", "-f", "--file", "-t", "--tag", "--name"),
        *("-e", "--env", "--env-file", "--label", "-l", "-p", "--publish", "--network", "--device"),
        *("--ipc", "-B", "--bind", "-u", "--user", "--entrypoint", "--add-host", "--hostname"),
    }
)
_BASE = re.compile(r"--build-arg=")
_STAGE = re.compile(r"^[ \t]*FROM[ \t]+.*[ \t]AS[ \t]+(\S+)", re.IGNORECASE | re.MULTILINE)
_PREFIX = re.compile(r"^(?:docker(?:-daemon)?:(?://)?)?(?:(?:index\.|registry-1\.)?docker\.io/)?")
_SHAPE = re.compile(r"[\w.${}/:@#+~-]+[/:][\w.${}/:@#+~-]+")
_NVIDIA = re.compile(
    r"(?:^|/)nvcr\.io[/#]|(?:^|[/#])nvidia/(?:cuda|cudagl|opengl|k8s|driver|dcgm|l4t|[\w.-]+:\w)"
)
_PYTORCH = re.compile(
    r"(?:^|/)pytorch/pytorch(?:-(?:devel|nightly))?(?:[:@]|$)|^pytorch/manylinux.*cu"
)
_CUDA = re.compile(r"[:_./-](?:cuda[-_]?[\d.$]|cuda(?:$|[-_:])|cu\d{2,3}(?!\d)|cudnn)")
_AZURE = re.compile(r"azureml:\S*cuda[-_]?\d", re.IGNORECASE)
"""Azure's curated environments, which are images."""
_GPU = re.compile(r"(?:^|[-_./:])gpu(?:$|[-_./:@])")
_PATH = re.compile(r"^(?:[/.~]|\$\{?(?:home|pwd|cuda\w*)\b)|/[^/:]+\.[a-z]{2,4}$|:/")
"""Files and lists of folders, which look like images."""
_HOLDS_PATHS = re.compile(r"PATHS?$|HOME$|DIRS?$|ROOT$|FLAGS$|OPTS?$", re.IGNORECASE)
_VERBS = frozenset({"run", "create", "pull", "build", "buildx"})
_HPC_VERBS = _VERBS | {"exec", "shell", "import", "start", "instance"}
_ELSEWHERE = re.compile(
    r"(?:^|/)(?:vllm/|lmsysorg/|huggingface/text-|predibase/lorax)|rocm|(?:^|[-_./:])cpu(?:$|[-_.:])"
)
"""Serving stacks, which have rules of their own, and images for other devices."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """One image as it is named."""

    name: str
    span: Span
    base: bool = True
    """Containers are made from it here; else the name is only set aside in a variable."""


def images(document: Document) -> Iterator[Image]:
    """Yield every image that the file names."""
    if document.kind == "dockerfile":
        yield from _bases(document)
    elif document.kind in {"yaml", "json", "toml"}:
        yield from _of_config(document)
    elif document.kind in {"env", "shell", "makefile"}:
        for variable in variables(document):
            path = _HOLDS_PATHS.search(variable.name)
            if not path and _SHAPE.fullmatch(variable.value):
                yield Image(name=variable.value, span=variable.key_span, base=False)
    for command in document.commands:
        yield from _of_command(command)


def kind_of(name: str) -> str | None:
    """Return what an image is made for, completing "... is"; None for one that is not CUDA's."""
    name = _PREFIX.sub("", name.strip().lower())
    built = _AZURE.match(name) or name.startswith("deepspeed/deepspeed")
    if not built and (_PATH.search(name) or not (_SHAPE.fullmatch(name) or _PYTORCH.search(name))):
        return None
    if _NVIDIA.search(name):
        return "NVIDIA's image: it holds the CUDA stack and builds of PyTorch for it"
    if _PYTORCH.search(name) and not _ELSEWHERE.search(name):
        return "PyTorch's image with CUDA builds"
    if _ELSEWHERE.search(name):
        return None
    if built or _CUDA.search(name):
        return "an image built on CUDA"
    return "an image for GPUs" if _GPU.search(name) else None


def _bases(document: Document) -> Iterator[Image]:
    stages = {match.group(1).lower() for match in _STAGE.finditer(document.text)}
    for entry in document.entries:
        if entry.keys == ("FROM",) and entry.text() not in stages:
            yield Image(name=str(entry.value), span=entry.span)


def _of_config(document: Document) -> Iterator[Image]:
    tags = {(e.stream, e.keys[:-1]): e for e in document.entries if e.key == "tag"}
    for entry in document.entries:
        if entry.container or not isinstance(entry.value, str):
            continue
        azure = entry.key == "environment" and _AZURE.match(entry.value)
        if entry.key in _KEYS or azure or (entry.key == "name" and entry.keys[-2:-1] == ("image",)):
            yield Image(name=entry.value, span=entry.span)
        elif entry.key == "repository" and "image" in str(entry.keys[-2:-1]).lower():
            tag = tags.get((entry.stream, entry.keys[:-1]))
            yield Image(name=_tagged(entry, tag), span=entry.span)


def _tagged(entry: Entry, tag: Entry | None) -> str:
    return f"{entry.value}:{tag.value}" if tag and tag.value else str(entry.value)


def _of_command(command: Command) -> Iterator[Image]:
    words = _image_words(command) if command.name in _PROGRAMS else []
    if command.name in _SLURM and (option := command.option("--container-image")):
        words = [option]
    for word in words:
        yield Image(name=word.text.rpartition("=")[2], span=word.span)


def _image_words(command: Command) -> list[Word]:
    """Return what may be an image: build arguments, or the first word that is no option's value.

    What follows the image is the container's own command.
    """
    words = list(itertools.pairwise(command.words))
    verbs = _HPC_VERBS if command.name in {"singularity", "apptainer", "enroot"} else _VERBS
    if not verbs & {word.text for word in command.words[1:4]}:
        return []
    if any(word.text in {"build", "buildx"} for word in command.words[1:3]):
        build = [w for before, w in words if before.text == "--build-arg" or _BASE.match(w.text)]
        if command.name in {"docker", "podman", "nerdctl", "nvidia-docker"}:
            return build
    positional = (
        word
        for before, word in words
        if not word.text.startswith(("-", "/", "."))
        and before.text not in _WITH_VALUE
        and _SHAPE.fullmatch(_PREFIX.sub("", word.text))
    )
    return list(itertools.islice(positional, 1))
