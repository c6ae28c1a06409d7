"""TPA809: CI jobs that run on GPU machines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.infrastructure.gpus import GPU_WORD
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Command, Document, Entry, Word
    from tpu_audit.rules.hit import Hit

_RUNNERS = frozenset(
    {"runs-on", "runs_on", "tags", "resource_class", "labels", "pool", "queue", "vmImage"}
)
_MARKS = re.compile(r"\b(?:gpu|gpus|cuda|multi_?gpu|require_gpu|nvidia)\b", re.IGNORECASE)
_NEGATED = re.compile(
    r"\bnot\s+\(?\s*(?:gpu|gpus|cuda|multi_?gpu|require_gpu|nvidia)\b", re.IGNORECASE
)

RULE = Rule(
    code="TPA809",
    name="gpu-ci-runner",
    severity=Severity.INFO,
    words=(
        *("gpu", "gpus", "cuda", "nvidia", "runs", "tags", "resource_class", "labels", "pytest"),
        *("queue", "pool"),
    ),
    docs=Docs(
        what="Finds CI jobs whose runner's labels name GPUs, and `pytest -m gpu`.",
        why="What these jobs cover is never run on a TPU: a port has no tests until there is a "
        "job on a TPU machine beside them.",
        example="runs-on: [self-hosted, gpu]",
        instead="Add a job on a runner with a TPU, and a marker for tests that need an "
        "accelerator.",
        references=(
            "https://docs.github.com/en/actions/how-tos/write-workflows/choose-where-workflows-run",
            "https://docs.pytest.org/en/stable/example/markers.html",
        ),
    ),
    valid=(
        Case(
            "on: push\njobs:\n  gpu:\n    runs-on: ubuntu-latest\n    steps:\n"
            '      - run: pytest -m "not gpu"\n',
            filename=".github/workflows/a.yml",
        ),
        Case("tags: [gpu, nvidia]\nrunner: gpu\n", filename="blog/post.yaml"),
        Case("pytest -k gpu tests\npytest -m slow --gpu 1\n", filename="t.sh"),
    ),
    invalid=(
        Case(
            "on: push\njobs:\n  a:\n    runs-on: [self-hosted, linux, gpu]\n  b:\n"
            "    runs-on: linux.g5.4xlarge.nvidia.gpu\n  c:\n    runs-on:\n"
            "      group: aws-g4dn-2xlarge\n      labels: nvidia-a10\n",
            filename=".github/workflows/a.yml",
            lines=(4, 6, 10),
        ),
        Case(
            "test:\n  tags: [docker, gpu]\n  script:\n    - pytest -m gpu\n",
            filename=".gitlab-ci.yml",
            lines=(2, 4),
        ),
        Case('pytest -q -m "gpu and not slow" tests\n', filename="ci/test.sh", lines=(1,)),
        Case(
            "jobs:\n  t:\n    machine: {image: linux-cuda-12:default}\n"
            "    resource_class: gpu.nvidia.small\n",
            filename=".circleci/config.yml",
            lines=(4,),
        ),
    ),
)


@RULE.document("ci")
def check_runners(document: Document) -> Iterator[Hit]:
    """Find labels of runners."""
    for entry in document.entries:
        if _is_runner(entry) and GPU_WORD.search(entry.text()):
            yield document.hit(
                entry.span,
                f"the runner `{entry.value}` has GPUs: nothing here is tested on a TPU",
                "add a job on a machine with a TPU",
                cause="runner",
            )


@RULE.document()
def check_marks(document: Document) -> Iterator[Hit]:
    """Find selections of tests that need a GPU."""
    for command in document.commands:
        mark = _mark(command)
        if mark and _MARKS.search(mark.text) and not _NEGATED.search(mark.text):
            yield document.hit(
                mark.span,
                f"`-m {mark.text}` selects tests that need a GPU: nothing here is tested on a TPU",
                "mark tests by what they need of an accelerator, and run them on a TPU too",
                cause="marker",
            )


def _is_runner(entry: Entry) -> bool:
    names = [key for key in entry.keys if isinstance(key, str)]
    if entry.container or not names or not isinstance(entry.value, str):
        return False
    return names[-1] in _RUNNERS or names[-2:-1] in (["runs-on"], ["pool"])


def _mark(command: Command) -> Word | None:
    """Return what follows pytest's ``-m``; Python's own stands before ``pytest``."""
    names = [word.text.rpartition("/")[2] for word in command.words]
    start = next((p for p, name in enumerate(names) if name in {"pytest", "py.test"}), None)
    if start is None:
        return None
    words = command.words[start + 1 :]
    for place, word in enumerate(words[:-1]):
        if word.text == "-m":
            return words[place + 1]
    return None
