"""TPA218: versions of CUDA's libraries, and NVIDIA's command line."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api.environment import is_run
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_PARSERS = frozenset({"Version", "parse", "float", "int", "parse_version", "LooseVersion"})
_COMMAND = "nvidia-smi"

RULE = Rule(
    code="TPA218",
    name="cuda-version",
    severity=Severity.ERROR,
    words=("cuda", "cudnn", "nvidia-smi*"),
    docs=Docs(
        what="Finds `torch.version.cuda` and `torch.backends.cudnn.version()` taken apart or "
        "compared by order, and runs of `nvidia-smi`.",
        why="Both versions are None where PyTorch has no CUDA: splitting, parsing or ordering them "
        "raises. There is no `nvidia-smi` on a TPU host.",
        example='major = int(torch.version.cuda.split(".")[0])\n'
        'subprocess.check_output(["nvidia-smi"])',
        instead="if torch.version.cuda is not None:\n"
        '    major = int(torch.version.cuda.split(".")[0])',
        references=(
            "https://docs.pytorch.org/docs/stable/backends.html",
            "https://docs.pytorch.org/docs/stable/accelerator.html",
        ),
    ),
    valid=(
        Case("import torch\nprint(torch.__version__, torch.version.cuda)\n"),
        Case(
            "import torch\nif torch.version.cuda is not None:\n"
            "    v = torch.version.cuda.split('.')\n"
        ),
        Case("import torch\nok = torch.version.cuda and torch.version.cuda >= '11.8'\n"),
        Case("raise RuntimeError('run nvidia-smi to see who holds the GPU')\n"),
        Case("import torch\nif torch.cuda.is_available():\n    tag = torch.version.cuda[:2]\n"),
        Case(
            "import torch\nv = getattr(torch.version, 'cuda', None)\nif v is None:\n"
            "    raise SystemExit\nmajor = v.split('.')[0]\n"
        ),
        Case("import torch\nhip = torch.version.cuda == '11.8'\n"),
    ),
    invalid=(
        Case("import torch\nassert torch.version.cuda == '12.1', 'wrong CUDA'\n", lines=(2,)),
        Case("import torch\nmajor = int(torch.version.cuda.split('.')[0])\n", lines=(2,)),
        Case(
            "import torch\nfrom packaging.version import Version\n"
            "new = Version(torch.version.cuda) >= Version('12.1')\n",
            lines=(3,),
        ),
        Case("from torch.backends import cudnn\nfused = cudnn.version() >= 8200\n", lines=(2,)),
        Case(
            "import subprocess\nout = subprocess.check_output(\n"
            "    ['nvidia-smi', '--query-gpu=memory.free', '--format=csv'])\n",
            lines=(3,),
            severity=Severity.WARNING,
        ),
        Case(
            "import subprocess as sp\nCMD = 'nvidia-smi --query-gpu=memory.free'\n"
            "out = sp.check_output(CMD.split())\n"
            "more = sp.run('nvidia-smi -L'.split())\n",
            lines=(2, 4),
            severity=Severity.WARNING,
        ),
        Case(
            "import os\nos.system(f'nvidia-smi -i {gpu} >> log')\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "import torch\ndef check_tensorrt():\n"
            "    need(f'tensorrt-cu{torch.version.cuda.split(chr(46))[0]}')\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
        Case('import torch\ntag = f\'cu{torch.version.cuda.replace(".", "")}\'\n', lines=(2,)),
    ),
)


@RULE.use("torch.version.cuda", "torch.backends.cudnn.version")
def check(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find uses that raise for None."""
    value = node
    if name.endswith("cudnn.version"):
        parent = module.parent(node)
        if not isinstance(parent, ast.Call) or parent.func is not node:
            return
        value = parent
    if _raises_for_none(value, module) and not _is_compared_with_none(value, module):
        written = f"{name}()" if value is not node else name
        yield module.hit(
            value,
            f"`{written}` is None on a TPU: this raises",
            "test it for None first",
            severity=_severity(node, module),
            cause=name,
        )


def _severity(node: ast.expr, module: Module) -> Severity | None:
    if module.backends.is_option(node):
        return Severity.INFO
    return Severity.WARNING if module.context(node).caught else None


@RULE.string(_COMMAND)
def check_command(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find the command where it is run."""
    text = str(constant.value).lstrip()
    if text.startswith((_COMMAND, f"watch {_COMMAND}")) and is_run(constant, module):
        caught = _is_tried(constant, module)
        yield module.hit(
            constant,
            "there is no `nvidia-smi` on a TPU host: running it fails",
            "ask `torch.accelerator.get_memory_info`, or run it on CUDA alone",
            severity=Severity.INFO if caught else Severity.WARNING,
            cause=_COMMAND,
        )


def _is_compared_with_none(node: ast.expr, module: Module) -> bool:
    """Tell whether the variable that holds the version is compared with None somewhere."""
    uses = module.index.names.get(node.id, ()) if isinstance(node, ast.Name) else ()
    return any(
        isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is | ast.IsNot)
        for test in (module.parent(use) for use in uses)
    )


def _raises_for_none(node: ast.expr, module: Module) -> bool:
    parent = module.parent(node)
    if isinstance(parent, ast.Attribute | ast.Subscript):
        return parent.value is node
    if isinstance(parent, ast.Compare):
        ordered = any(isinstance(operator, _ORDER) for operator in parent.ops)
        return ordered or _is_demanded(parent, module)
    return (
        isinstance(parent, ast.Call)
        and node in parent.args
        and getattr(parent.func, "attr", getattr(parent.func, "id", "")) in _PARSERS
    )


def _is_demanded(test: ast.Compare, module: Module) -> bool:
    """Tell whether a version is asserted to be a certain one."""
    return isinstance(module.parent(test), ast.Assert) and isinstance(test.ops[0], ast.Eq | ast.In)


def _is_tried(node: ast.AST, module: Module) -> bool:
    """Tell whether a handler of any kind is around: the command's absence is expected."""
    child, parent = node, module.parent(node)
    while parent is not None:
        if isinstance(parent, ast.Try) and child in parent.body and parent.handlers:
            return True
        child, parent = parent, module.parent(parent)
    return False
