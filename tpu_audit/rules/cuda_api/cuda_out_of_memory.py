"""TPA212: running out of a CUDA device's memory."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.table import names_of
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_ANY_DEVICE = "torch.OutOfMemoryError"
_TEXT = "CUDA out of memory"
_PORTABLE = "out of memory"
_PARENTS = frozenset({"RuntimeError", "Exception", "BaseException"})

RULE = Rule(
    code="TPA212",
    name="cuda-out-of-memory",
    severity=Severity.WARNING,
    words=("OutOfMemoryError", "CudaError", "DeferredCudaCallError", "memory"),
    docs=Docs(
        what='Finds `except torch.cuda.OutOfMemoryError`, and tests for the text "CUDA out of '
        'memory".',
        why="TorchTPU does not raise PyTorch's OutOfMemoryError: a TPU that runs out of memory "
        'raises a RuntimeError that says "ran out of memory". The handler is not entered, and a '
        "batch size that was to be halved stops the run.",
        example="try:\n    step(batch)\nexcept torch.cuda.OutOfMemoryError:\n    halve()",
        instead="try:\n    step(batch)\nexcept RuntimeError as error:  # OutOfMemoryError is one\n"
        '    if "out of memory" not in str(error):\n        raise\n    halve()',
        fix_safety="Unsafe: the shorter text also matches other messages. The class is not "
        "rewritten, since RuntimeError is wider.",
        references=(
            "https://docs.pytorch.org/docs/stable/notes/cuda.html",
            "https://docs.pytorch.org/docs/stable/torch_cuda_memory.html",
        ),
    ),
    valid=(
        Case(
            "try:\n    f()\nexcept RuntimeError as e:\n    if 'out of memory' in str(e):\n"
            "        g()\n"
        ),
        Case(
            "import torch\ntry:\n    f()\nexcept (torch.cuda.OutOfMemoryError, RuntimeError):\n"
            "    g()\n"
        ),
        Case("print('CUDA out of memory: lower the batch size')\n"),
        Case(
            "class OutOfMemoryError(Exception):\n    pass\n"
            "try:\n    f()\nexcept OutOfMemoryError:\n    pass\n"
        ),
    ),
    invalid=(
        Case(
            "import torch\ntry:\n    f()\nexcept torch.cuda.OutOfMemoryError:\n    g()\n",
            lines=(4,),
        ),
        Case(
            "from torch.cuda import OutOfMemoryError as OOM\ntry:\n    f()\n"
            "except (OOM, ValueError) as e:\n    g()\n",
            lines=(4,),
        ),
        Case(
            "try:\n    f()\nexcept RuntimeError as e:\n    if 'CUDA out of memory' in str(e):\n"
            "        g()\n",
            lines=(4,),
            fixed="try:\n    f()\nexcept RuntimeError as e:\n    if 'out of memory' in str(e):\n"
            "        g()\n",
        ),
        Case(
            "import torch\nKINDS = (torch.cuda.OutOfMemoryError, MemoryError)\ntry:\n    f()\n"
            "except KINDS:\n    g()\n",
            lines=(5,),
        ),
        Case("if 'cuda out of memory' in str(e).lower():\n    g()\n", lines=(1,)),
        Case(
            'SIGNS = ("CUDA out of memory.", "CUBLAS_STATUS")\ndef is_oom(e):\n'
            "    return any(sign in e.args[0] for sign in SIGNS)\n",
            lines=(1,),
        ),
        Case(
            "import torch\nOOM = getattr(torch.cuda, 'OutOfMemoryError', MemoryError)\ntry:\n"
            "    f()\nexcept OOM:\n    g()\n",
            lines=(5,),
        ),
        Case(
            "import torch\nif isinstance(error, torch.cuda.OutOfMemoryError):\n    retry()\n",
            lines=(2,),
        ),
        Case(
            "import torch\ntry:\n    f()\nexcept torch.OutOfMemoryError:\n    g()\n",
            lines=(4,),
            severity=Severity.INFO,
        ),
    ),
)


@RULE.use(*names_of("TPA212"), _ANY_DEVICE)
def check(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find handlers of the class, unless RuntimeError is handled too."""
    for place in (node, *_kept_under(node, module)):
        yield from _judged(place, name, module)


def _kept_under(node: ast.expr, module: Module) -> list[ast.Name]:
    """Return the uses of ``OOM`` after ``OOM = getattr(torch.cuda, "OutOfMemoryError", ...)``."""
    statement = module.parent(node)
    if isinstance(statement, ast.Tuple):
        statement = module.parent(statement)
    elif not isinstance(node, ast.Call):
        return []
    if not isinstance(statement, ast.Assign):
        return []
    names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
    uses = [use for name in names for use in module.index.names[name]]
    return [use for use in uses if isinstance(use.ctx, ast.Load)]


def _judged(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    handler = _handler(node, module)
    caught = handler is not None and not _catches_parent(handler, module)
    if caught or _is_asked_for(node, module):
        yield module.hit(
            node,
            f"a TPU does not raise `{name}` when it runs out of memory",
            'catch `RuntimeError`, and look for "out of memory" in its text',
            severity=Severity.INFO if name == _ANY_DEVICE else None,
            cause="class",
        )


@RULE.string(_TEXT, _TEXT.lower())
def check_text(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find the text where it is looked for, not where it is printed."""
    if _is_looked_for(constant, module):
        yield module.hit(
            constant,
            f'no message of a TPU says "{_TEXT}"',
            f'look for "{_PORTABLE}", which a TPU\'s message has too',
            fix=_fix(constant, module),
            cause="text",
        )


def _handler(node: ast.expr, module: Module) -> ast.ExceptHandler | None:
    parent = module.parent(node)
    if isinstance(parent, ast.Tuple):
        parent = module.parent(parent)
    return parent if isinstance(parent, ast.ExceptHandler) else None


def _is_asked_for(node: ast.expr, module: Module) -> bool:
    """Tell whether ``isinstance(error, node)`` asks for the class alone."""
    call = module.parent(node)
    return (
        isinstance(call, ast.Call)
        and getattr(call.func, "id", "") == "isinstance"
        and call.args[1:] == [node]
    )


def _catches_parent(handler: ast.ExceptHandler, module: Module) -> bool:
    block = module.parent(handler)
    handlers = block.handlers if isinstance(block, ast.Try | ast.TryStar) else []
    return any(
        getattr(node, "id", "") in _PARENTS
        for one in handlers
        if one.type is not None
        for node in descend(one.type)
    )


def _is_looked_for(constant: ast.Constant, module: Module) -> bool:
    parent = module.parent(constant)
    if isinstance(parent, ast.Tuple | ast.List | ast.Set):
        return isinstance(module.parent(parent), ast.Assign | ast.AnnAssign | ast.comprehension)
    if isinstance(parent, ast.Compare):
        return True
    return isinstance(parent, ast.Call) and getattr(parent.func, "attr", "") in {
        *("find", "startswith", "search", "match", "count", "index"),
    }


def _fix(constant: ast.Constant, module: Module) -> Fix | None:
    written = module.code(constant)
    if constant.value != _TEXT or _TEXT not in written:
        return None
    text = written.replace(_TEXT, _PORTABLE)
    parent = module.parent(constant)
    if isinstance(parent, ast.Compare) and not isinstance(parent.ops[0], ast.In | ast.NotIn):
        return None
    return repair.fix(module, Applicability.UNSAFE, module.edit(constant, text))
