"""TPA713: transformers from before its support of TorchTPU."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.libraries.required import requirements
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_MAJOR = 5
_LIMIT = re.compile(r"(===?|~=|<=?)\s*v?(\d+)(?:\.(\d+|\*))?")
_EFFECT = "transformers before 5 does not know TorchTPU: its trainer and `generate` take the CPU"
_ADVICE = "ask for a transformers of 5 that has `is_torch_tpu_available`"

RULE = Rule(
    code="TPA713",
    name="old-transformers",
    severity=Severity.ERROR,
    words=("transformers",),
    docs=Docs(
        what="Finds requirements that keep transformers below version 5.",
        why="transformers learned of TorchTPU in version 5: device choice of the trainer, "
        "compiled generation, process groups. Before, it knows TPUs through torch_xla alone.",
        example="transformers==4.46.0",
        instead="transformers>=5",
        references=("https://github.com/huggingface/transformers/pull/45918",),
    ),
    valid=(
        Case("transformers>=4.40\n", filename="requirements.txt"),
        Case("transformers\nsentence-transformers<4\n", filename="requirements.txt"),
        Case("transformers>=5.9,<6\n", filename="requirements.txt"),
        Case(
            "[project]\nname = 'x'\ndependencies = ['transformers>=4,<6']\n",
            filename="pyproject.toml",
        ),
    ),
    invalid=(
        Case("torch\ntransformers==4.46.3\n", filename="requirements.txt", lines=(2,)),
        Case("pip install 'transformers>=4.30,<5'\n", filename="setup.sh", lines=(1,)),
        Case(
            "[project]\nname = 'x'\ndependencies = ['transformers[torch]~=4.51']\n",
            filename="pyproject.toml",
            lines=(3,),
        ),
        Case(
            "from setuptools import setup\nsetup(install_requires=['transformers<=4.49'])\n",
            filename="setup.py",
            lines=(2,),
        ),
        Case(
            "dependencies:\n- pip:\n  - transformers==4.37.2\n",
            filename="environment.yml",
            lines=(3,),
        ),
    ),
)


@RULE.document()
def check(document: Document) -> Iterator[Hit]:
    """Find requirements that exclude version 5."""
    for requirement in document.requirements:
        if requirement.name == "transformers" and _is_old(requirement.specifier):
            severity = Severity.INFO if requirement.locked else None
            yield document.hit(requirement.span, _EFFECT, _ADVICE, severity=severity)


@RULE.module
def check_setup(module: Module) -> Iterator[Hit]:
    """Find the same in set-up scripts."""
    for requirement in requirements(module):
        if requirement.name == "transformers" and _is_old(requirement.specifier):
            severity = Severity.INFO if requirement.optional else None
            yield module.hit(requirement.node, _EFFECT, _ADVICE, severity=severity)


def _is_old(specifier: str) -> bool:
    """Tell whether a specifier allows no version from 5 on."""
    for operator, major, minor in _LIMIT.findall(specifier):
        limit = int(major)
        if operator == "<" and limit == _MAJOR and minor in {"", "0"}:
            return True
        if limit < _MAJOR and not (operator == "~=" and not minor):
            return True
    return False
