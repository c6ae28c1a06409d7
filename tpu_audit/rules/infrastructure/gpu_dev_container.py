"""TPA814: dev containers that ask for an NVIDIA GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document, Entry
    from tpu_audit.rules.hit import Hit

RULE = Rule(
    code="TPA814",
    name="gpu-dev-container",
    severity=Severity.WARNING,
    words=("hostRequirements", "nvidia", "GPU", "gpu"),
    docs=Docs(
        what="Finds `hostRequirements.gpu` and features that install CUDA in `devcontainer.json`.",
        why="A host with TPUs does not meet the requirement: editors warn or choose another "
        "machine, and gigabytes of CUDA are installed in the container for nothing.",
        example='"hostRequirements": {"gpu": true}',
        instead="Delete it: a TPU VM needs no such requirement.",
        references=(
            "https://containers.dev/implementors/json_reference/",
            "https://github.com/devcontainers/features/tree/main/src/nvidia-cuda",
        ),
    ),
    valid=(
        Case(
            '{"hostRequirements": {"cpus": 8, "gpu": "optional"}}\n',
            filename=".devcontainer/devcontainer.json",
        ),
        Case('{"hostRequirements": {"gpu": true}}\n', filename="docs/example.json"),
        Case(
            '{\n  // "hostRequirements": {"gpu": true},\n  "features": {"ghcr.io/devcontainers/'
            'features/python:1": {}}, "name": "nvidia"\n}\n',
            filename=".devcontainer.json",
        ),
    ),
    invalid=(
        Case(
            '{"hostRequirements": {"gpu": true}}\n',
            filename=".devcontainer/devcontainer.json",
            lines=(1,),
            columns=(23,),
        ),
        Case(
            '{\n  "hostRequirements": {\n    "gpu": {"cores": 1000, "memory": "32gb"},\n  },\n'
            '  "features": {\n    "ghcr.io/devcontainers/features/nvidia-cuda:1": '
            '{"installCudnn": true}\n  }\n}\n',
            filename=".devcontainer/train/devcontainer.json",
            lines=(3, 6),
        ),
        Case('{"hostRequirements": {"gpus": 1}}\n', filename=".devcontainer.json", lines=(1,)),
    ),
)


@RULE.document("json")
def check(document: Document) -> Iterator[Hit]:
    """Find requirements and features."""
    if not document.path.endswith("devcontainer.json"):
        return
    for entry in document.entries:
        if entry.keys[:-1] == ("hostRequirements",) and _asks(entry):
            message = "the container asks for a host with an NVIDIA GPU, which a TPU VM is not"
            yield document.hit(entry.key_span or entry.span, message, "delete it", cause="host")
        elif entry.keys[:-1] == ("features",) and "nvidia-cuda" in str(entry.key):
            message = f"the feature `{entry.key}` installs CUDA, which a TPU host cannot use"
            yield document.hit(entry.key_span or entry.span, message, "delete it", cause="feature")


def _asks(entry: Entry) -> bool:
    wanted = entry.container or entry.text() not in {"", "false", "0", "optional"}
    return entry.key in {"gpu", "gpus"} and wanted
