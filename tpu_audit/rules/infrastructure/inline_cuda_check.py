"""TPA822: Python one-liners in scripts that raise without CUDA."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Command, Document, Word
    from tpu_audit.rules.hit import Hit

_PYTHON = re.compile(r"python[\d.]*")
_RAISES = re.compile(
    r"\bassert\s+torch\.cuda\.(?:is_available|device_count)\(\)"
    r"|torch\.cuda\.(?:get_device_(?:capability|name|properties)|current_device|synchronize"
    r"|mem_get_info)\("
    r"|\.cuda\(\)|device=.cuda\b|\.to\(.cuda\b"
)
_ASKED = re.compile(r"if\s+torch\.cuda\.is_available\(\)|torch\.cuda\.is_available\(\)\s+and")

RULE = Rule(
    code="TPA822",
    name="inline-cuda-check",
    severity=Severity.WARNING,
    words=("torch",),
    docs=Docs(
        what='Finds `python -c "..."` in scripts, images and CI steps whose code asserts CUDA or '
        "calls what raises without it.",
        why="PyTorch for TPUs is built without CUDA: the one-liner raises, and the script, the "
        "image's build or the job stops there.",
        example='python -c "import torch; assert torch.cuda.is_available()"',
        instead='python -c "import torch; assert torch.accelerator.is_available()"',
        references=("https://docs.pytorch.org/docs/stable/accelerator.html",),
    ),
    valid=(
        Case('python -c "import torch; print(torch.cuda.is_available())"\n', filename="a.sh"),
        Case('python -c "import torch; print(torch.__version__)"\n', filename="a.sh"),
        Case("echo 'assert torch.cuda.is_available()'\n", filename="a.sh"),
        Case(
            'python -c "import torch; '
            'n = torch.cuda.get_device_name() if torch.cuda.is_available() else 0"\n',
            filename="a.sh",
        ),
    ),
    invalid=(
        Case(
            'set -e\npython3 -c "import torch; assert torch.cuda.is_available()"\n',
            filename="check.sh",
            lines=(2,),
        ),
        Case(
            "FROM python:3.12\nRUN python -c 'import torch; "
            "assert torch.cuda.get_device_capability()[0] >= 8'\n",
            filename="Dockerfile",
            lines=(2,),
        ),
    ),
)


@RULE.document("shell", "dockerfile", "yaml", "makefile")
def check(document: Document) -> Iterator[Hit]:
    """Find the one-liners."""
    for command in document.commands:
        word = _code(command) if _PYTHON.fullmatch(command.name) else None
        found = _RAISES.search(word.text) if word is not None else None
        if word is not None and found and not _ASKED.search(word.text):
            yield document.hit(
                word.span,
                f"`{found.group().strip()}` raises on a TPU, and stops the script",
                "ask `torch.accelerator.is_available()`",
            )


def _code(command: Command) -> Word | None:
    """Return the word after ``-c``."""
    texts = [word.text for word in command.words]
    place = texts.index("-c") + 1 if "-c" in texts else 0
    return command.words[place] if 0 < place < len(texts) else None
