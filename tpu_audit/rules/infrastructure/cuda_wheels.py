"""TPA801: Python packages built for CUDA."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.infrastructure.places import matches, part
from tpu_audit.rules.infrastructure.wheels import INDEX, LOCAL_VERSION, RUNTIME, WHEEL
from tpu_audit.rules.python import repair
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.files.document import Command, Document, Requirement, Word
    from tpu_audit.rules.hit import Hit, Span
    from tpu_audit.rules.python.module import Module

_ADVICE = "install the CPU build of torch, and torch-tpu beside it"
_BACKEND = re.compile(r"cu\d{2,3}")
_LINE = re.compile(r"[ \t]*(?:[^\\\r\n]|\\\r?\n|\\)*(?:\r?\n|\Z)")

RULE = Rule(
    code="TPA801",
    name="cuda-wheels",
    severity=Severity.WARNING,
    words=("whl/*", "+cu*", "%2Bcu*", "nvidia", "nvidia_*", "torch_backend", "backend"),
    docs=Docs(
        what="Finds `--index-url https://download.pytorch.org/whl/cu121` and its like, versions "
        "with `+cu121`, wheels built for CUDA, uv's `torch-backend`, and requirements on CUDA's "
        "own `nvidia-*` packages, in requirements, project files, scripts, images and CI.",
        why="A TPU needs none of it: gigabytes of CUDA libraries are installed that nothing can "
        "use, and an index for one CUDA version often lacks the torch that torch-tpu takes.",
        example="pip install torch --index-url https://download.pytorch.org/whl/cu121",
        instead="pip install torch torch-tpu --extra-index-url "
        "https://download.pytorch.org/whl/cpu",
        fix_safety="Unsafe: a machine with a GPU gets the CPU build too. Indexes become `whl/cpu`, "
        "local versions and `nvidia-*` lines are deleted.",
        references=(
            "https://pytorch.org/get-started/locally/",
            "https://pypi.org/project/torch-tpu/",
        ),
    ),
    valid=(
        Case(
            "raise ImportError('pip install torch -i https://download.pytorch.org/whl/cu121')\n"
            "print('https://download.pytorch.org/whl/cu118')\n"
        ),
        Case("torch>=2.11\ntorch-tpu\nnvidia-ml-py\n", filename="requirements.txt"),
        Case(
            "# --extra-index-url https://download.pytorch.org/whl/cu118\n"
            "--index-url https://download.pytorch.org/whl/cpu\ntorch==2.13.0+cpu\n",
            filename="requirements.txt",
        ),
        Case(
            'echo "see whl/" # pip install torch==2.1.0+cu121\npip install torch\n', filename="i.sh"
        ),
        Case(
            '{"install": "pip install torch --index-url https://download.pytorch.org/whl/cu121"}\n',
            filename="docs/snippets.json",
        ),
        Case(
            '# pip install torch==2.0.1+cu118\nURL = "https://download.pytorch.org/whl/cpu"\n',
        ),
        Case(
            "on: push\njobs:\n  a:\n    steps:\n      - run: |\n"
            "          # pip install -i https://download.pytorch.org/whl/cu121 torch\n"
            "          pip install torch\n",
            filename=".github/workflows/ci.yml",
        ),
    ),
    invalid=(
        Case(
            "on: push\njobs:\n  a:\n    steps:\n"
            "      - run: pip install torch -i https://download.pytorch.org/whl/cu${{ "
            "matrix.cuda }}\n",
            filename=".github/workflows/t.yml",
            lines=(5,),
            fixed="on: push\njobs:\n  a:\n    steps:\n"
            "      - run: pip install torch -i https://download.pytorch.org/whl/cpu\n",
        ),
        Case(
            "pip install torch -f https://download.pytorch.org/whl/cu${CUDA}/torch_stable.html\n",
            filename="i.sh",
            lines=(1,),
        ),
        Case(
            "pip install torch torchvision --index-url https://download.pytorch.org/whl/cu121\n",
            filename="run.sh",
            lines=(1,),
            columns=(76,),
            fixed="pip install torch torchvision --index-url "
            "https://download.pytorch.org/whl/cpu\n",
        ),
        Case(
            "--extra-index-url https://download.pytorch.org/whl/nightly/cu124\n"
            'torch==2.1.0+cu118 ; sys_platform == "linux"\n'
            "nvidia-cublas-cu12==12.1.3.1 \\\n    --hash=sha256:00\nnumpy\n",
            filename="requirements/gpu.txt",
            lines=(1, 2, 3),
            fixed="--extra-index-url https://download.pytorch.org/whl/nightly/cpu\n"
            'torch==2.1.0 ; sys_platform == "linux"\nnumpy\n',
        ),
        Case(
            "FROM python:3.11\nENV PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cu118\n"
            "RUN pip install --no-cache-dir \\\n    # pinned\n    torch==2.0.1+cu118 numpy\n",
            filename="Dockerfile",
            lines=(2, 5),
        ),
        Case(
            '[[tool.uv.index]]\nname = "pt"\nurl = "https://download.pytorch.org/whl/cu128"\n'
            '[tool.uv.pip]\ntorch-backend = "cu128"\n',
            filename="pyproject.toml",
            lines=(3, 5),
            fixed='[[tool.uv.index]]\nname = "pt"\nurl = "https://download.pytorch.org/whl/cpu"\n'
            '[tool.uv.pip]\ntorch-backend = "cpu"\n',
        ),
        Case(
            "on: push\njobs:\n  a:\n    steps:\n      - run: |\n          pip install -U pip\n"
            "          pip install torch -f "
            "https://download.pytorch.org/whl/cu121/torch_stable.html\n",
            filename=".github/workflows/ci.yml",
            lines=(7,),
        ),
        Case(
            "name: x\nchannels: [defaults]\ndependencies:\n  - python=3.11\n  - pip:\n"
            "    - --extra-index-url https://download.pytorch.org/whl/cu117\n"
            "    - torch==2.13.0+cu117\n    - nvidia-cudnn-cu11==8.5.0.96\n",
            filename="environment.yml",
            lines=(6, 7, 8),
        ),
        Case(
            "uv pip install torch --torch-backend=cu126\n"
            "pip install https://download.pytorch.org/whl/cu118/torch-2.0.0%2Bcu118-cp310-cp310-"
            "linux_x86_64.whl\n",
            filename="install.sh",
            lines=(1, 2),
        ),
        Case(
            "import subprocess, sys\n"
            "subprocess.check_call([sys.executable, '-m', 'pip', 'install', "
            "'torch',\n    '--index-url', 'https://download.pytorch.org/whl/cu118'])\n"
            "os.system('pip install torch -i https://download.pytorch.org/whl/cu121')\n",
            filename="bootstrap.py",
            lines=(3, 4),
            fixed="import subprocess, sys\n"
            "subprocess.check_call([sys.executable, '-m', 'pip', 'install', "
            "'torch',\n    '--index-url', 'https://download.pytorch.org/whl/cpu'])\n"
            "os.system('pip install torch -i https://download.pytorch.org/whl/cpu')\n",
        ),
        Case(
            "from setuptools import setup\n"
            'setup(install_requires=["torch==2.1.0+cu118", "nvidia-nccl-cu12"])\n',
            filename="setup.py",
            lines=(2, 2),
            fixed="from setuptools import setup\n"
            'setup(install_requires=["torch==2.1.0", "nvidia-nccl-cu12"])\n',
        ),
    ),
)


@RULE.document()
def check(document: Document) -> Iterator[Hit]:
    """Find indexes and wheels for CUDA, and requirements of its builds."""
    if not _installs(document):
        return
    for match, span in matches(document, INDEX):
        place = _of_group(document, span, match)
        yield document.hit(
            place,
            f"this index serves wheels built for CUDA ({match.group(2)}), which a TPU cannot use",
            "use the index `https://download.pytorch.org/whl/cpu`, and install torch-tpu",
            fix=document.replace(place, "cpu", Applicability.UNSAFE),
            cause="index",
        )
    for match, span in matches(document, WHEEL):
        message = f"`{match.group().rpartition('/')[2]}` is a wheel built for CUDA"
        yield document.hit(span, message, _ADVICE, cause="wheel")
    for item in document.requirements:
        if not item.locked and not WHEEL.search(item.url):
            yield from _requirement(document, item)


@RULE.document("toml", "shell", "dockerfile", "makefile", "env", "yaml")
def check_backend(document: Document) -> Iterator[Hit]:
    """Find uv's choice of a CUDA build."""
    named = (e for e in document.entries if e.key in {"torch-backend", "UV_TORCH_BACKEND"})
    spans = [(entry.span, entry.text()) for entry in named]
    spans += [(word.span, word.text) for c in document.commands for word in _backend(c)]
    for span, text in spans:
        match = _BACKEND.search(document.source.slice(span))
        if match and _BACKEND.fullmatch(text):
            place = part(document, span, match)
            yield document.hit(
                place,
                f"uv installs torch for CUDA ({text}), which a TPU cannot use",
                "choose the backend `cpu`, and install torch-tpu",
                fix=document.replace(place, "cpu", Applicability.UNSAFE),
            )


@RULE.string("+cu", "nvidia-")
def check_setup(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find requirements in a setup.py."""
    text = str(constant.value)
    if module.path.rpartition("/")[2] != "setup.py" or " " in text.strip() or "/" in text:
        return
    name = re.match(r"[\w.-]*\w", text)
    local = LOCAL_VERSION.search(text)
    if local and "==" in text:
        code = module.code(constant)
        edit = module.edit(constant, LOCAL_VERSION.sub("", code))
        fix = repair.fix(module, Applicability.UNSAFE, edit)
        yield module.hit(
            constant, f"`{text}` is a build for CUDA", _ADVICE, fix=fix, cause="local version"
        )
    elif name and RUNTIME.fullmatch(name.group().lower().replace("_", "-")):
        yield module.hit(
            constant, f"`{text}` brings a CUDA library", "delete it", cause="nvidia packages"
        )


@RULE.string("download.pytorch.org/whl/")
def check_python(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find indexes that Python code installs from; hints to users are left alone."""
    text = str(constant.value)
    match = INDEX.search(text)
    alone = re.fullmatch(r"(?:--(?:extra-)?index-url=)?https?://\S+", text)
    runs = re.match(r"\s*(?:\S*python\S* -m )?pip3? install ", text)
    if match is None or not (alone or runs) or _is_said(constant, module):
        return
    code = module.code(constant)
    edit = module.edit(constant, INDEX.sub(r"\1cpu", code))
    yield module.hit(
        constant,
        f"this index serves wheels built for CUDA ({match.group(2)}), which a TPU cannot use",
        "use the index `https://download.pytorch.org/whl/cpu`, and install torch-tpu",
        fix=repair.fix(module, Applicability.UNSAFE, edit),
        cause="index",
    )


def _is_said(node: ast.AST, module: Module) -> bool:
    """Tell text for people: printed, logged or raised."""
    parent = module.parent(node)
    while isinstance(parent, ast.expr):
        if isinstance(parent, ast.Call):
            name = getattr(parent.func, "attr", getattr(parent.func, "id", ""))
            if re.search(r"print|info|warn|error|debug|log|echo|Error|Exception|write", name):
                return True
        parent = module.parent(parent)
    return isinstance(parent, ast.Raise | ast.Assert)


def _installs(document: Document) -> bool:
    """Leave out JSON that is not a dev container: its strings are data; and lock files."""
    if "lock" in document.flavours:
        return False
    return document.kind != "json" or document.path.endswith("devcontainer.json")


def _requirement(document: Document, item: Requirement) -> Iterator[Hit]:
    local = LOCAL_VERSION.search(document.source.slice(item.span))
    if local:
        place = part(document, item.span, local)
        yield document.hit(
            place,
            f"`{item.name}{item.specifier}` is a build for CUDA, which a TPU cannot use",
            _ADVICE,
            fix=document.replace(place, "", Applicability.UNSAFE),
            cause="local version",
        )
    elif RUNTIME.fullmatch(item.name) and item.manager == "pip":
        yield document.hit(
            item.span,
            f"`{item.name}` brings a CUDA library, which nothing on a TPU host can use",
            "delete it: a torch that needs it asks for it itself",
            fix=_without_line(document, item),
            cause="nvidia packages",
        )


def _without_line(document: Document, item: Requirement) -> Fix | None:
    """Delete a requirement with its line, in files that have one a line."""
    if document.kind != "requirements":
        return None
    start = document.source.index(item.span.line, 1)
    line = _LINE.match(document.text, start)
    if not line:
        return None
    return document.replace(document.source.span(*line.span()), "", Applicability.UNSAFE)


def _of_group(document: Document, span: Span, match: re.Match[str]) -> Span:
    start = document.source.index(span.line, span.column) + len(match.group(1))
    return document.source.span(start, start + len(match.group(2)))


def _backend(command: Command) -> Iterator[Word]:
    option = command.option("--torch-backend") if command.name == "uv" else None
    if option:
        yield option
