"""TPA224: CUDA's environment variables in code."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api.environment import Use, is_run, is_update, use_of
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.guards import says
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_COUNTERPARTS = {
    "CUDA_VISIBLE_DEVICES": "TPU_VISIBLE_DEVICES",
    "CUDA_LAUNCH_BLOCKING": "TPU_LAUNCH_BLOCKING",
}
_ALONE = frozenset({"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING"})
_MINOR = frozenset(
    {
        *("CUDA_DEVICE_ORDER", "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_MODULE_LOADING"),
        *("CUBLAS_WORKSPACE_CONFIG", "CUBLASLT_WORKSPACE_SIZE", "NVIDIA_TF32_OVERRIDE"),
        *("TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "NVIDIA_VISIBLE_DEVICES", "TORCH_CUDA_ARCH_LIST"),
    }
)
_BEFORE_COMMAND = re.compile(r"\s*(CUDA_VISIBLE_DEVICES|CUDA_LAUNCH_BLOCKING)=")
_ALL = (*_COUNTERPARTS, *sorted(_ALONE | _MINOR))

RULE = Rule(
    code="TPA224",
    name="cuda-environment-variable",
    severity=Severity.WARNING,
    words=_ALL,
    docs=Docs(
        what="Finds `CUDA_VISIBLE_DEVICES`, `CUDA_LAUNCH_BLOCKING`, `PYTORCH_CUDA_ALLOC_CONF` and "
        "their like where Python code sets or reads them. Silent for the first two where the file "
        "names the TPU's variable too.",
        why="A TPU ignores them: devices are not hidden, launches do not block, and code that "
        "decides by them whether there is a GPU decides wrongly.",
        example='os.environ["CUDA_VISIBLE_DEVICES"] = "0"',
        instead='os.environ["TPU_VISIBLE_DEVICES"] = "0"',
        fix_safety="Unsafe: sets the TPU's variable beside CUDA's, which may hide chips that are "
        "to be used.",
        references=(
            "https://docs.pytorch.org/docs/stable/notes/cuda.html",
            "https://docs.pytorch.org/docs/stable/cuda_environment_variables.html",
            "https://pypi.org/project/torch-tpu/",
        ),
    ),
    valid=(
        Case('import os\nos.environ["TPU_VISIBLE_DEVICES"] = "0"\n'),
        Case("print('set CUDA_VISIBLE_DEVICES to choose a GPU')\n"),
        Case(
            "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = g\n"
            "os.environ['TPU_VISIBLE_DEVICES'] = g\n"
        ),
        Case("HIDDEN = ['CUDA_VISIBLE_DEVICES']\nfield = row['CUDA_VISIBLE_DEVICES']\n"),
        Case("import os\nx = os.environ.get('MY_CUDA_VISIBLE_DEVICES')\n"),
    ),
    invalid=(
        Case(
            "import os\nos.system(f'CUDA_VISIBLE_DEVICES={i} python train.py')\n"
            "os.environ |= {'PYTORCH_CUDA_ALLOC_CONF': 'backend:cudaMallocAsync'}\n",
            lines=(2, 3),
        ),
        Case(
            'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"  # first\n',
            lines=(2,),
            columns=(12,),
            fixed='import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\n'
            'os.environ["TPU_VISIBLE_DEVICES"] = "0"  # first\n',
        ),
        Case(
            "from os import environ, getenv\nif 'CUDA_VISIBLE_DEVICES' in environ:\n"
            "    gpus = getenv('CUDA_VISIBLE_DEVICES').split(',')\n",
            lines=(2, 3),
        ),
        Case(
            "import os\nos.environ.setdefault('PYTORCH_CUDA_ALLOC_CONF', "
            "'expandable_segments:True')\n",
            lines=(2,),
        ),
        Case(
            "import os, subprocess\n"
            "subprocess.Popen(cmd, env={**os.environ, 'CUDA_LAUNCH_BLOCKING': '1'})\n"
            "os.environ.update(CUDA_VISIBLE_DEVICES='1')\n",
            lines=(2, 3),
        ),
        Case(
            'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "-1"\n',
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            'import os\nos.environ["CUDA_LAUNCH_BLOCKING"] = "0"\n'
            "raise ValueError(f\"no GPU in {os.environ.get('CUDA_VISIBLE_DEVICES')}\")\n",
            lines=(2, 3),
            severity=Severity.INFO,
        ),
        Case(
            'import os\nenv.pop("CUDA_VISIBLE_DEVICES", None)\n'
            'del os.environ["CUDA_VISIBLE_DEVICES"]\n',
            lines=(2, 3),
            severity=Severity.INFO,
        ),
        Case(
            'import os\nlog.info("on %s", os.environ.get("CUDA_VISIBLE_DEVICES"))\n',
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            'import os\nos.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"\n',
            lines=(2,),
            severity=Severity.INFO,
        ),
    ),
)


@RULE.string(*_ALL)
def check(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find variables by name in a string."""
    name = str(constant.value)
    use = use_of(constant, module) if name in _ALL else None
    command = _BEFORE_COMMAND.match(name)
    if command is not None and is_run(constant, module):
        name, use = command[1], Use.SET
    if use is not None and not _knows_tpu(name, module):
        yield _hit(constant, name, use, module)


@RULE.keyword(*_ALL)
def check_update(argument: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find variables that are set by keyword."""
    name = argument.arg or ""
    if is_update(argument, module) and not _knows_tpu(name, module):
        yield _hit(argument, name, Use.SET, module)


def _hit(node: ast.AST, name: str, use: Use, module: Module) -> Hit:
    other = _COUNTERPARTS.get(name)
    if use is Use.READ and name == "CUDA_VISIBLE_DEVICES":
        advice = "ask `torch.accelerator.is_available` or `torch.accelerator.device_count`"
    elif other is not None:
        advice = f"set `{other}` as well"
    else:
        advice = "leave it to CUDA; nothing has to be set for a TPU"
    return module.hit(
        node,
        f"a TPU ignores `{name}`",
        advice,
        fix=_fix(node, name, module),
        severity=Severity.INFO if name in _MINOR or _is_idle(node, name, module) else None,
    )


def _is_idle(node: ast.AST, name: str, module: Module) -> bool:
    """Tell what asks nothing of a TPU: hidden GPUs, a switch turned off, a message."""
    parent: ast.AST | None = node
    while isinstance(parent, ast.expr):
        parent = module.parent(parent)
        if isinstance(parent, ast.Call) and says(parent.func):
            return True
        if isinstance(parent, ast.FormattedValue):
            return isinstance(module.statement(node), ast.Raise) or _says(parent, module)
    if _is_removal(node, module):
        return True
    statement = module.statement(node)
    value = statement.value if isinstance(statement, ast.Assign) else None
    idle = {"", "-1"} if name == "CUDA_VISIBLE_DEVICES" else {"", "0"}
    return isinstance(value, ast.Constant) and value.value in idle


def _is_removal(node: ast.AST, module: Module) -> bool:
    """Tell ``env.pop("NAME")`` and ``del os.environ["NAME"]``."""
    parent = module.parent(node)
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.ctx, ast.Del)
    return isinstance(parent, ast.Call) and getattr(parent.func, "attr", "") in {"pop", "unsetenv"}


def _says(text: ast.AST, module: Module) -> bool:
    call: ast.AST | None = text
    while isinstance(call, ast.expr) and not isinstance(call, ast.Call):
        call = module.parent(call)
    return isinstance(call, ast.Call) and says(call.func)


def _knows_tpu(name: str, module: Module) -> bool:
    other = _COUNTERPARTS.get(name)
    return other is not None and other in module.text


def _fix(node: ast.AST, name: str, module: Module) -> Fix | None:
    """Write the statement again, below, for the TPU's variable."""
    other = _COUNTERPARTS.get(name)
    statement = module.statement(node)
    if other is None or not isinstance(statement, ast.Assign):
        return None
    simple = isinstance(statement.value, ast.Constant | ast.Name | ast.Attribute)
    start, _ = module.byte_range(statement)
    data = module.source.encoded
    indent = data[data.rfind(b"\n", 0, start) + 1 : start]
    if not simple or indent.strip() or statement.lineno != statement.end_lineno:
        return None
    text = module.code(statement)
    again = text.replace(name, other)
    whole = f"{text}\n{indent.decode()}{again}"
    return repair.fix(module, Applicability.UNSAFE, module.edit(statement, whole))
