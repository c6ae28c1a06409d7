"""TPA810: versions of torch and Python that torch-tpu does not take."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.files.requirement_text import parse
from tpu_audit.rules.infrastructure.versions import PYTHON, TORCH, admits, applies
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document, Entry, Requirement
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_USERS = frozenset(
    {"torch", "pytorch", "torchvision", "transformers", "accelerate", "diffusers", "lightning"}
)
_BASE = re.compile(r"(?:docker\.io/|library/|docker\.io/library/)?python:(3\.\d+)(?![\d])\S*")
_DOCS = re.compile(r"(?:^|/)docs?/")
_LISTS = frozenset({"install_requires", "extras_require", "setup_requires", "tests_require"})
_TORCH_ADVICE = "require torch from 2.11.0 up to 2.15.0"
_PYTHON_ADVICE = "move to Python 3.11 or later"

RULE = Rule(
    code="TPA810",
    name="outside-torch-tpu-window",
    severity=Severity.ERROR,
    # "torch" alone is in every file of a project; these are the ways to bound a version
    words=(
        *(f"torch{sign}*" for sign in ("=", "<", ">", "~", "^", "!", "[", " =", " <", " >")),
        *("torch ~*", "torch (*", 'torch"*', "torch'*", "python:3*", "python=*"),
        *("python =*", "python <*", "requires-python*"),
    ),
    words_in_python=(*_LISTS, "python_requires"),
    docs=Docs(
        what="Finds requirements whose versions of torch all lie outside 2.11.0 to 2.15.0, or of "
        "Python below 3.11, in requirements, project files, conda environments, `setup.py`, "
        "install commands and images. Requirements whose marker leaves out Linux on x86-64 or "
        "Python 3.11, lock files and docs' requirements do not count as errors.",
        why="torch-tpu 0.2.0 asks for Python 3.11 or later and torch from 2.11.0 up to 2.15.0: pip "
        "finds no solution, or imports fail on a library built for another torch.",
        example="torch==2.1.0",
        instead="torch>=2.11.0,<=2.15.0",
        references=("https://pypi.org/project/torch-tpu/",),
    ),
    valid=(
        Case(
            "torch>=2.0\ntorch-tpu\ntorchvision==0.15\ntorch-scatter==2.1.0\n",
            filename="requirements.txt",
        ),
        Case("torch>=2.0,<3\n# torch==1.13\ntorch==2.13.0+cpu\n", filename="requirements.txt"),
        Case(
            'torch==2.2.2 ; sys_platform == "darwin"\ntorch<2.0; python_version < "3.11"\n',
            filename="requirements.txt",
        ),
        Case(
            '[project]\nrequires-python = ">=3.9"\ndependencies = ["torch~=2.12"]\n'
            '[tool.poetry.dependencies]\ntorch = "^2.1"\npython = "^3.8"\n',
            filename="pyproject.toml",
        ),
        Case(
            '[project]\nrequires-python = "<3.11"\ndependencies = ["numpy"]\nx = "torch"\n',
            filename="pyproject.toml",
        ),
        Case(
            "FROM python:3.12-slim\nRUN pip install 'torch>=2.4' pytorch-lightning==1.9\n",
            filename="Dockerfile",
        ),
        Case(
            "from setuptools import setup\n"
            'setup(install_requires=["torch>=1.8"], note="torch==1.0")\n',
            filename="setup.py",
        ),
        Case("dependencies:\n  - pytorch >=2.0\n  - python >=3.8\n", filename="environment.yml"),
    ),
    invalid=(
        Case(
            "numpy\ntorch==2.1.0+cu118\ntorch<2.5 ; python_version >= '3.9'\n",
            filename="requirements.txt",
            lines=(2, 3),
            columns=(1, 1),
        ),
        Case(
            '[project]\nrequires-python = ">=3.8,<3.11"\ndependencies = ["torch~=2.4.0"]\n',
            filename="pyproject.toml",
            lines=(2, 3),
        ),
        Case(
            '[tool.poetry.dependencies]\npython = "~3.10"\n'
            'torch = {version = "2.0.1", source = "pt"}\n',
            filename="pyproject.toml",
            lines=(2, 3),
        ),
        Case(
            "channels: [pytorch]\ndependencies:\n  - python=3.9\n"
            "  - pytorch::pytorch=1.13.1=py3.9_0\n",
            filename="environment.yml",
            lines=(3, 4),
        ),
        Case(
            "FROM python:3.10-slim\n"
            "RUN pip install -q \"torch==1.*\" && uv pip install 'torch>2.15'\n",
            filename="Dockerfile",
            lines=(1, 2, 2),
        ),
        Case(
            "from setuptools import setup\nreqs = ['torch>=1.6,<2', 'numpy']\n"
            "setup(install_requires=reqs, extras_require={'a': ['torch==2.3.1']},\n"
            "      python_requires='>=3.7,<3.10')\n",
            filename="setup.py",
            lines=(2, 3, 4),
        ),
        Case(
            "[options]\npython_requires = ==3.8.*\ninstall_requires =\n    torch <= 1.9\n",
            filename="setup.cfg",
            lines=(2, 4),
        ),
        Case(
            "torch==2.0.0\n", filename="docs/requirements.txt", lines=(1,), severity=Severity.INFO
        ),
        Case(
            '[[package]]\nname = "torch"\nversion = "2.6.0"\n',
            filename="uv.lock",
            lines=(2,),
            severity=Severity.INFO,
        ),
    ),
)


@RULE.document()
def check(document: Document) -> Iterator[Hit]:
    """Find requirements on torch, and on Python where torch or its libraries are asked for."""
    docs = Severity.INFO if _DOCS.search(document.path) else None
    torch = any(item.name in _USERS for item in document.requirements)
    for item in document.requirements:
        if _is_torch(item) and _excludes(document, item):
            severity = Severity.INFO if item.locked else docs
            yield document.hit(
                item.span, _torch(item.specifier), _TORCH_ADVICE, severity=severity, cause="torch"
            )
        elif torch and item.name == "python" and not admits(item.specifier, PYTHON):
            yield document.hit(
                item.span, _python(item.specifier), _PYTHON_ADVICE, severity=docs, cause="python"
            )
    for entry in document.entries if torch else ():
        if version := _python_of(entry, document.kind):
            yield document.hit(
                entry.span, _python(version), _PYTHON_ADVICE, severity=docs, cause="python"
            )


@RULE.keyword(*_LISTS, "python_requires")
def check_setup(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find requirements in a setup.py, also through variables."""
    if module.path.rpartition("/")[2] != "setup.py":
        return
    if keyword.arg == "python_requires":
        for possible in module.value(keyword.value):
            if isinstance(possible.value, str) and not admits(possible.value, PYTHON):
                yield module.hit(possible.node, _python(possible.value), _PYTHON_ADVICE)
        return
    for node in _strings(keyword.value, module):
        parsed = parse(str(node.value))
        if not parsed or parsed.name != "torch" or not applies(str(node.value)):
            continue
        if parsed.specifier and not admits(_public(parsed.specifier), TORCH):
            yield module.hit(node, _torch(parsed.specifier), _TORCH_ADVICE, cause="torch")


def _strings(node: ast.expr, module: Module) -> Iterator[ast.Constant]:
    """Iterate over the strings of lists, and of lists in a dict."""
    values = node.values if isinstance(node, ast.Dict) else [node]
    for value in values:
        for element in module.elements(value) or ():
            if isinstance(element, ast.Constant) and isinstance(element.value, str):
                yield element


def _is_torch(item: Requirement) -> bool:
    name = "pytorch" if item.manager == "conda" else "torch"
    return item.name == name or (item.name == "torch" and item.locked)


def _excludes(document: Document, item: Requirement) -> bool:
    specifier = item.specifier
    if item.manager == "conda":
        # a build behind a second sign, which says nothing on the version
        specifier = re.sub(r"(?<=[\d*])=.*|\s+[a-z]\S*$", "", specifier)
    known = bool(specifier) and applies(document.source.slice(item.span))
    return known and not admits(_public(specifier), TORCH)


def _public(specifier: str) -> str:
    return re.sub(r"\+[\w.]+", "", specifier)


def _python_of(entry: Entry, kind: str) -> str:
    """Return a demand on Python that leaves out what torch-tpu takes; empty for others."""
    value = str(entry.value)
    if kind == "dockerfile" and entry.keys == ("FROM",):
        base = _BASE.fullmatch(value.lower())
        return f"=={base.group(1)}.*" if base and not admits(f"{base.group(1)}.*", PYTHON) else ""
    names = {("project", "requires-python"), ("options", "python_requires")}
    return value if entry.keys in names and not admits(value, PYTHON) else ""


def _torch(specifier: str) -> str:
    return f"torch-tpu takes torch from 2.11.0 up to 2.15.0, never `{specifier}`"


def _python(specifier: str) -> str:
    return f"torch-tpu takes Python 3.11 and later, never `{specifier}`"
