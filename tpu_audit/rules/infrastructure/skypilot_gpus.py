"""TPA816: SkyPilot and dstack tasks that ask for GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.infrastructure.gpus import MODEL
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document, Entry
    from tpu_audit.rules.hit import Hit

_ADVICE = "ask for a TPU: `accelerators: tpu-v6e-8`"

RULE = Rule(
    code="TPA816",
    name="skypilot-gpus",
    severity=Severity.WARNING,
    words=("accelerators", "gpus", "gpu", "accelerator"),
    docs=Docs(
        what="Finds `resources.accelerators` of SkyPilot tasks and `resources.gpu` of dstack's "
        "with NVIDIA GPUs, as text, list or mapping, and `sky launch --gpus`.",
        why="The task is given a machine with GPUs. Both tools rent TPUs by their names.",
        example="resources:\n  accelerators: A100:8",
        instead="resources:\n  accelerators: tpu-v6e-8",
        references=(
            "https://docs.skypilot.co/en/latest/reference/tpu.html",
            "https://docs.skypilot.co/en/stable/compute/gpus.html",
        ),
    ),
    valid=(
        Case(
            "resources:\n  accelerators: tpu-v6e-8\n  # accelerators: A100:8\n",
            filename="task.yaml",
        ),
        Case("accelerators: A100:8\nother: {gpu: A100}\n", filename="notes.yaml"),
        Case("resources:\n  accelerators: Trainium2:16\n  gpu: 2\n", filename="task.yaml"),
        Case("sky launch --cloud gcp task.yaml\nsky-tool --gpus A100\n", filename="run.sh"),
    ),
    invalid=(
        Case(
            "name: t\nresources:\n  cloud: aws\n  accelerators: A100-80GB:8\nrun: python t.py\n",
            filename="sky.yaml",
            lines=(4,),
            columns=(17,),
        ),
        Case("resources: {accelerators: {H100:8, 'L40S:1': 1}}\n", filename="t.yml", lines=(1, 1)),
        Case(
            "resources:\n  any_of:\n    - infra: gcp\n"
            "      accelerators: [V100, T4:4, tpu-v5p-8]\n",
            filename="t.yml",
            lines=(4, 4),
        ),
        Case("type: task\nresources:\n  gpu: A100:8\n", filename=".dstack.yml", lines=(3,)),
        Case(
            "type: task\nresources:\n  gpu: {name: [H100, H200], count: 8}\n",
            filename="a.dstack.yml",
            lines=(3, 3),
        ),
        Case(
            "sky launch -c t --gpus A100:8 t.yaml\nsky jobs launch --gpus=H100 'python t.py'\n",
            filename="run.sh",
            lines=(1, 2),
        ),
    ),
)


@RULE.document("yaml")
def check(document: Document) -> Iterator[Hit]:
    """Find settings."""
    for entry in document.entries:
        name = _gpu(entry)
        if name:
            yield document.hit(
                entry.span if isinstance(entry.value, str) else entry.key_span or entry.span,
                f"`{name}` are NVIDIA GPUs: the task is given no TPU",
                _ADVICE,
                cause="gpus",
            )


@RULE.document("shell", "makefile", "yaml")
def check_commands(document: Document) -> Iterator[Hit]:
    """Find SkyPilot's commands."""
    for command in document.commands:
        option = command.option("--gpus", "--accelerators") if command.name == "sky" else None
        if option and _is_gpu(option.text):
            message = f"`{option.text}` are NVIDIA GPUs: the task is given no TPU"
            yield document.hit(
                option.span, message, "ask for a TPU: `--gpus tpu-v6e-8`", cause="gpus"
            )


def _gpu(entry: Entry) -> str:
    """Return the GPUs that an entry asks for; empty for other entries."""
    keys = entry.keys
    if "resources" not in keys or entry.container:
        return ""
    below = keys[keys.index("resources") + 1 :]
    if below[:1] in {("any_of",), ("ordered",)}:
        below = below[2:]
    if below[:1] not in {("accelerators",), ("gpu",)}:
        return ""
    if isinstance(entry.value, str) and _is_gpu(entry.value):
        return entry.value
    # a mapping of names to counts; {A100:8} is one key without a value
    name = str(entry.key)
    return name if below[:1] == ("accelerators",) and len(below) > 1 and _is_gpu(name) else ""


def _is_gpu(text: str) -> bool:
    name = text.partition(":")[0].strip()
    return MODEL.fullmatch(name) is not None
