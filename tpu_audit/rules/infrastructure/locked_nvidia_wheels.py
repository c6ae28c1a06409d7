"""TPA812: lock files that carry CUDA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.infrastructure.wheels import LOCAL_VERSION, RUNTIME
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document, Requirement
    from tpu_audit.rules.hit import Hit

_CONDA = ("cuda-", "cudatoolkit", "libcublas", "libcudnn", "cudnn", "pytorch-cuda", "nccl")

RULE = Rule(
    code="TPA812",
    name="locked-nvidia-wheels",
    severity=Severity.INFO,
    words=("nvidia", "nvidia_*", "nvidia-*", "+cu*", "cudatoolkit", "cudnn", "cuda"),
    docs=Docs(
        what="Finds lock files (uv, poetry, pdm, Pipenv, pixi, conda-lock, `pylock.toml`) that "
        "hold packages of CUDA or builds for it. One finding a file.",
        why="What is installed from the lock on a TPU host brings gigabytes that nothing can use, "
        "and torch-tpu is not in it.",
        example='[[package]]\nname = "nvidia-cublas-cu12"\nversion = "12.4.5.8"',
        instead="Change the index of torch in the project file, add torch-tpu, and lock again.",
        references=(
            "https://docs.astral.sh/uv/guides/integration/pytorch/",
            "https://pypi.org/project/torch-tpu/",
        ),
    ),
    valid=(
        Case('[[package]]\nname = "torch"\nversion = "2.13.0"\n', filename="uv.lock"),
        Case('[[package]]\nname = "nvidia-ml-py"\nversion = "12.0"\n', filename="poetry.lock"),
        Case("nvidia-cublas-cu12==12.4.5.8\n", filename="requirements.txt"),
    ),
    invalid=(
        Case(
            '[[package]]\nname = "numpy"\nversion = "2.0"\n\n[[package]]\n'
            'name = "nvidia-cublas-cu12"\nversion = "12.4.5.8"\n\n[[package]]\n'
            'name = "nvidia-nccl-cu12"\nversion = "2.21.5"\n',
            filename="uv.lock",
            lines=(6,),
        ),
        Case(
            '{"_meta": {}, "default": {"torch": {"version": "==2.1.0+cu118"}}, "develop": {}}\n',
            filename="Pipfile.lock",
            lines=(1,),
        ),
        Case(
            "version: 1\npackage:\n  - name: cuda-cudart\n    version: 12.1.105\n"
            "    manager: conda\n",
            filename="conda-lock.yml",
            lines=(3,),
        ),
    ),
)


@RULE.document("lock")
def check(document: Document) -> Iterator[Hit]:
    """Find the first package of CUDA, and count them."""
    found = [item for item in document.requirements if _is_cuda(item)]
    if found:
        first = found[0]
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield document.hit(
            first.span,
            f"the lock holds `{first.name}`{more}: CUDA, which a TPU host cannot use",
            "choose torch's CPU index in the project file, add torch-tpu, and lock again",
        )


def _is_cuda(item: Requirement) -> bool:
    text = f"{item.specifier} {item.url.replace('%2B', '+')}"
    return bool(
        RUNTIME.fullmatch(item.name) or LOCAL_VERSION.search(text) or item.name.startswith(_CONDA)
    )
