"""TPA201: ``torch.cuda.is_available()`` and its like."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.guards import Guarded, guard_of, says
from tpu_audit.rules.python.tests import TestMarks
from tpu_audit.rules.python.upkeep import on_host
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.demands import needs_cuda
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_NAMES = {
    "torch.cuda.is_available": ("is_available", "is false on a TPU", Severity.WARNING),
    "torch.cuda.device_count": ("device_count", "is 0 on a TPU", Severity.WARNING),
    "torch.cuda.current_device": ("current_device_index", "raises on a TPU", Severity.ERROR),
    "torch.cuda.synchronize": ("synchronize", "raises on a TPU", Severity.ERROR),
}
"""Name -> its place under torch.accelerator, what happens, what that costs."""

_SETTINGS = ("nccl", "flash_attention", "fp16", "bf16", "float16", "bfloat16")
_STATED = re.compile(r"(?:cuda|gpu)[\w ]*(?:available|count|present)|^cuda$", re.IGNORECASE)
_HALVES = ("fp16", "half", "is_half", "use_fp16", "use_half")
"""Arguments that halve a model: the rule on dtypes chosen by CUDA has them."""
_DECIDED = re.compile(
    r"device|backend|nccl|distributed|world|rank|gpus?\b|n_gpu|num_proc|workers|\.to\(|\.cuda\("
    r"|model|accelerat|pin_memory",
    re.IGNORECASE,
)
"""Words of what runs elsewhere, or not at all, because CUDA is missing."""
_REPORTS = re.compile(
    r"cuda|(?:env|environment|system|version|device)_?info|report|summary|print_|affinity"
    r"|^_?(?:is_)?(?:available|supported)$|_(?:available|supported)$"
)
"""Functions that answer for CUDA by name, or tell what the host has."""
_DTYPES = ("torch.float16", "torch.half", "torch.bfloat16")

RULE = Rule(
    code="TPA201",
    name="cuda-availability",
    severity=Severity.WARNING,
    words=("cuda",),
    docs=Docs(
        what="Finds `torch.cuda.is_available`, `device_count`, `current_device` and `synchronize`.",
        why="They know CUDA alone: on a TPU the first is false, the second 0, and the others "
        "raise.",
        example="if torch.cuda.is_available():\n    torch.cuda.synchronize()",
        instead="if torch.accelerator.is_available():\n    torch.accelerator.synchronize()",
        fix_safety="Safe for the calls that raise without CUDA. Unsafe for `is_available` and "
        "`device_count`: what they guard may be CUDA's own.",
        references=("https://docs.pytorch.org/docs/stable/accelerator.html",),
    ),
    valid=(
        Case("import torch\ntorch.accelerator.is_available()\n"),
        Case('import torch\ndevice = "cuda" if torch.cuda.is_available() else "cpu"\n'),
        Case("import torch\nfor _ in range(torch.accelerator.device_count()):\n    pass\n"),
        Case(
            "import torch\ndtype = torch.float16 if torch.cuda.is_available() else torch.float32\n"
        ),
        Case('backend = "nccl" if torch.cuda.is_available() else "gloo"\n'),
        Case(
            "import torch\nimport torch.distributed as dist\n"
            "if dist.get_backend() == dist.Backend.NCCL:\n"
            "    dist.barrier(device_ids=[torch.cuda.current_device()])\n"
            "ids = dist.get_backend() == 'nccl'\n"
            "dist.barrier([torch.cuda.current_device()]) if ids else dist.barrier()\n"
        ),
        Case(
            "import pytest, torch\n@pytest.mark.skipif(not torch.cuda.is_available(), reason='x')\n"
            "def test_a():\n    pass\n",
            filename="tests/test_a.py",
        ),
        Case("import torch\nraise ValueError(f'no CUDA: {torch.cuda.is_available()}, {device}')\n"),
        Case("import torch\nif several and torch.cuda.device_count() > 1:\n    warn()\n"),
        Case('import torch\nx = x.to(f"cuda:{torch.cuda.current_device()}")\n'),
        Case(
            "import torch.distributed as dist\nimport torch\n"
            "if backend == dist.Backend.NCCL and not torch.cuda.is_available():\n"
            "    raise RuntimeError('no CUDA')\n"
        ),
        Case(
            "import torch.distributed as dist\nimport torch\nif backend == dist.Backend.NCCL:\n"
            "    dist.barrier(device_ids=[torch.cuda.current_device()])\n"
        ),
        Case('import torch\nd = torch.device("cuda", torch.cuda.current_device())\n'),
        Case(
            "import torch\nif torch.cuda.is_available() and not torch.cuda.is_bf16_supported():\n"
            "    raise ValueError('too old')\n"
        ),
    ),
    invalid=(
        Case(
            "import torch\nif torch.cuda.is_available():\n"
            "    from torch.cuda import synchronize as sync\nelse:\n    sync = print\nsync()\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\nif torch.cuda.is_available():\n    model = torch.compile(model)\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\nper_node = torch.cuda.device_count()\ngroups = world // per_node\n",
            lines=(2,),
            severity=Severity.ERROR,
            fixed="import torch\nper_node = torch.accelerator.device_count()\n"
            "groups = world // per_node\n",
        ),
        Case(
            "from torch import cuda\nimport torch\ncuda.synchronize()\n",
            lines=(3,),
            severity=Severity.ERROR,
            fixed="from torch import cuda\nimport torch\ntorch.accelerator.synchronize()\n",
        ),
        Case(
            "import torch\nif torch.cuda.is_available():\n    start()\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\ndef run(x, use_cuda=None):\n"
            "    use = torch.cuda.is_available() if use_cuda is None else use_cuda\n"
            "    return torch.device(torch.cuda.current_device()) if use else x.device\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\nif torch.cuda.is_available():\n    start(backend='nccl')\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "import torch\ndef num_cuda_devices():\n    return torch.cuda.device_count()\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\nif not torch.cuda.is_available():\n    raise RuntimeError\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "import torch\nassert torch.cuda.device_count() > 1\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "import torch\nif torch.cuda.is_available():\n    torch.cuda.empty_cache()\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            'import torch\nprint(f"CUDA: {torch.cuda.is_available()}")\n',
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            'import torch\nrows = [("CUDA Available?", str(torch.cuda.is_available()))]\n',
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\nusing_gpu = kind == 'gpu' or torch.cuda.is_available()\n"
            "for model in models:\n    if using_gpu:\n        warnings.warn('not on GPUs')\n"
            "        continue\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            'import torch\nprint("CUDA:", torch.cuda.is_available())\n'
            'state = {"cuda_available": torch.cuda.is_available()}\n',
            lines=(2, 3),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\nif opt.startswith('apex.'):\n"
            "    assert torch.cuda.is_available(), 'CUDA required for APEX optimizers'\n"
            "def to_tensorrt(m):\n    if not torch.cuda.is_available():\n        raise OSError\n",
            lines=(3, 5),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\npin = torch.cuda.is_available()\nd = Loader(x, pin_memory=pin)\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\nassert ok, f'on {torch.cuda.current_device()}'\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\ndef _check_device_cuda(x):\n    if not torch.cuda.is_available():\n"
            "        raise ValueError\nCHECKS = [_check_device_cuda]\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\ndef check_cuda():\n    assert torch.cuda.is_available()\ncheck_cuda()\n",
            lines=(3,),
            severity=Severity.ERROR,
        ),
        Case(
            "import torch\nif not torch.cuda.is_available():\n    raise RuntimeError('no GPU')\n",
            filename="lib/quantizers/quantizer_awq.py",
            lines=(2,),
            severity=Severity.INFO,
        ),
    ),
)


@RULE.use(*_NAMES)
def check(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find uses, those excepted that choose a device: they are another rule's."""
    if _chooses_device(node, module) or _chooses_setting(node, module):
        return
    if isinstance(module.statement(node), ast.Raise) or _skips_test(node, module):
        return
    if _is_replaced(node, module):
        return
    if _is_index(node, module) or _spares_refusal(node, module):
        return
    place, effect, severity = _NAMES[name]
    guarded = guard_of(node, module)
    if guarded is Guarded.EXTRA and name == "torch.cuda.device_count":
        return  # what is done for several devices in a process: there is one on a TPU
    if _divides(node, module):
        severity = Severity.ERROR
    elif guarded is Guarded.DEMAND:
        optional = module.backends.is_option(node)
        severity = Severity.INFO if optional else Severity.ERROR
        effect = f"{effect}, and this code demands it"
    elif _explains(node, module) or (
        severity is Severity.WARNING
        and (guarded is Guarded.EXTRA or _is_said(node, module) or not _decides(node, module))
    ):
        severity = Severity.INFO
    yield module.hit(
        node,
        f"`{name}` {effect}",
        f"write `torch.accelerator.{place}`",
        fix=_fix(node, place, module),
        severity=severity,
    )


def _is_replaced(node: ast.expr, module: Module) -> bool:
    """Tell a name that stands for CUDA's function only where CUDA is: a TPU has the other one."""
    bindings = module.scopes.bindings(node) if isinstance(node, ast.Name) else ()
    dead = [module.reach(binding.node).dead for binding in bindings]
    return any(dead) and not all(dead)


def _decides(node: ast.expr, module: Module) -> bool:
    """Tell whether a device, a backend or a number of processes depends on the answer.

    Not where a function answers for CUDA by its name: who calls it asks for no other device.
    """
    function = module.context(node).function
    asked = function is not None and _REPORTS.search(function.name) is not None
    if asked or on_host(node, module) or _is_of_refusal(node, module):
        return False
    child: ast.AST = node
    parent = module.parent(node)
    while isinstance(parent, ast.expr | ast.keyword) and not isinstance(parent, ast.IfExp):
        child, parent = parent, module.parent(parent)
    if isinstance(parent, ast.If) and child is parent.test:
        return _differs(parent, module)
    if isinstance(parent, ast.Assign):
        if _is_for_pinning(parent, module) or _only_refuses(parent.targets[0], module):
            return False
        name = module.code(parent.targets[0])
        return "kernel" not in name and not (name.startswith("pt_") and _STATED.search(name))
    if not isinstance(parent, ast.IfExp):
        return True
    return any(_DECIDED.search(module.code(arm)) for arm in (parent.body, parent.orelse))


def _is_for_pinning(statement: ast.Assign, module: Module) -> bool:
    """Tell a flag that loaders alone take, for what a TPU does without."""
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return False
    uses = [use for use in module.index.names[target.id] if isinstance(use.ctx, ast.Load)]
    parents = [module.parent(use) for use in uses]
    return bool(uses) and all(
        isinstance(parent, ast.keyword) and parent.arg in {"pin_memory", "non_blocking"}
        for parent in parents
    )


def _only_refuses(flag: ast.expr, module: Module) -> bool:
    """Tell a flag under which the file only warns, skips and raises."""
    uses = module.index.names[flag.id] if isinstance(flag, ast.Name) else []
    tests = [module.parent(use) for use in uses if isinstance(use.ctx, ast.Load)]
    return bool(tests) and all(
        isinstance(one, ast.If)
        and not one.orelse
        and all(isinstance(s, ast.Continue | ast.Raise) or _is_message(s) for s in one.body)
        for one in tests
    )


def _differs(choice: ast.If, module: Module) -> bool:
    """Tell whether the arms of a test hold more than messages and calls of CUDA's own."""
    arms = [*choice.body, *choice.orelse]
    if all(_compiles(one, module) for one in arms):
        return False
    if all(_is_of_cuda(one, module) for one in choice.body) or all(map(_is_message, arms)):
        return False
    if all(map(_is_message, choice.body)):
        arms = choice.orelse
    return any(_DECIDED.search(module.code(one)) for one in arms)


def _compiles(statement: ast.stmt, module: Module) -> bool:
    """Tell ``model = torch.compile(model)``, which another rule looks at."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Call) and module.is_named(value.func, "torch.compile")


def _is_of_refusal(node: ast.expr, module: Module) -> bool:
    """Tell a question in an arm that raises in the end: it words the error."""
    child: ast.AST = node
    parent = module.parent(node)
    while parent is not None and not isinstance(parent, ast.FunctionDef):
        inside = isinstance(parent, ast.If) and child in parent.body
        if inside and isinstance(parent, ast.If) and isinstance(parent.body[-1], ast.Raise):
            return True
        child, parent = parent, module.parent(parent)
    return False


def _is_message(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If):
        return all(map(_is_message, [*statement.body, *statement.orelse]))
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Call) and says(value.func)


def _is_of_cuda(statement: ast.stmt, module: Module) -> bool:
    """Tell ``self.torch.cuda.empty_cache()`` and its like: CUDA's own caches and numbers."""
    value = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    return isinstance(value, ast.Call) and ".cuda." in module.code(value.func)


def _fix(node: ast.expr, place: str, module: Module) -> Fix | None:
    if place == "is_available" and needs_cuda(_guarded(node, module), module):
        return None
    guards = place in {"is_available", "device_count"}
    level = Applicability.UNSAFE if guards else Applicability.SAFE
    text = f"{repair.torch_name(module)}.accelerator.{place}"
    return repair.fix(module, level, module.edit(node, text))


def _guarded(node: ast.expr, module: Module) -> list[ast.AST]:
    """Return the code that runs only where the test holds, itself or by the variable it sets."""
    test: ast.AST | None = node
    found: list[ast.AST] = []
    while isinstance(test, ast.expr):
        parent = module.parent(test)
        if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And):
            found += parent.values
        elif isinstance(parent, ast.If | ast.IfExp) and test is parent.test:
            found += parent.body if isinstance(parent.body, list) else [parent.body]
        elif isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
            for use in module.index.names[parent.targets[0].id]:
                if isinstance(use.ctx, ast.Load) and use.lineno > (parent.end_lineno or 0):
                    found += _guarded(use, module)
        test = parent
    return found


def _chooses_device(node: ast.expr, module: Module) -> bool:
    tests = {choice.test for choice in module.choices}
    parent: ast.AST | None = node
    while isinstance(parent, ast.expr):
        if parent in tests:
            return True
        parent = module.parent(parent)
    return False


def _chooses_setting(node: ast.expr, module: Module) -> bool:
    """Tell a choice of a dtype, an attention or a process-group backend: other rules' too."""
    parent: ast.AST | None = module.parent(node)
    while isinstance(parent, ast.expr) and not isinstance(parent, ast.IfExp):
        parent = module.parent(parent)
    if not isinstance(parent, ast.IfExp):
        return isinstance(parent, ast.keyword) and parent.arg in _HALVES
    arms = (parent.body, parent.orelse)
    texts = [str(arm.value) for arm in arms if isinstance(arm, ast.Constant)]
    return any(text.startswith(_SETTINGS) for text in texts) or any(
        module.is_named(arm, *_DTYPES) for arm in arms
    )


def _skips_test(node: ast.expr, module: Module) -> bool:
    """Tell the condition of a test's decorator or mark: the rule on skipped tests has it."""
    parent: ast.AST | None = node
    while isinstance(parent, ast.expr):
        if isinstance(parent, ast.Call) and TestMarks(module).runs(parent) is False:
            return True
        parent = module.parent(parent)
    return False


def _is_said(node: ast.expr, module: Module) -> bool:
    """Tell a value that a message or a report shows."""
    child: ast.AST = node
    parent = module.parent(node)
    while isinstance(parent, ast.expr):
        if isinstance(parent, ast.FormattedValue):
            return True
        if isinstance(parent, ast.Call) and child is not parent.func and says(parent.func):
            return True
        if isinstance(parent, ast.Dict) and _is_reported(child, parent):
            return True
        if isinstance(parent, ast.Tuple) and _STATED.search(_text(parent.elts[0])):
            return True
        child, parent = parent, module.parent(parent)
    return False


def _text(node: ast.expr) -> str:
    return str(getattr(node, "value", ""))


def _is_reported(value: ast.AST, report: ast.Dict) -> bool:
    """Tell ``{"cuda_available": ...}``: the entry says no more than is so."""
    return any(
        held is value and isinstance(key, ast.Constant) and _STATED.search(str(key.value))
        for key, held in zip(report.keys, report.values, strict=True)
    )


def _explains(node: ast.expr, module: Module) -> bool:
    """Tell what is evaluated for the message of a failed assertion alone."""
    child: ast.AST = node
    parent = module.parent(node)
    while isinstance(parent, ast.expr | ast.keyword):
        child, parent = parent, module.parent(parent)
    return isinstance(parent, ast.Assert) and child is parent.msg


def _is_index(node: ast.expr, module: Module) -> bool:
    """Tell the index of ``torch.device(f"cuda:{...}")``: the rule on such devices has it."""
    call = module.parent(node)
    value = module.parent(call) if isinstance(call, ast.Call) else None
    device = module.parent(value) if isinstance(value, ast.FormattedValue) else value
    if isinstance(device, ast.JoinedStr):
        return any(sink.node is device for sink in module.sinks)
    return (
        isinstance(device, ast.Call)
        and len(device.args) > 1
        and module.is_named(device.func, "torch.device")
    )


def _spares_refusal(node: ast.expr, module: Module) -> bool:
    """Tell ``if torch.cuda.is_available() and not ...: raise``, which a TPU does well to skip.

    So with ``if backend == "nccl" and not torch.cuda.is_available(): raise``.
    """
    child: ast.AST = node
    parent = module.parent(node)
    while isinstance(parent, ast.expr):
        child, parent = parent, module.parent(parent)
    return (
        isinstance(parent, ast.If)
        and child is parent.test
        and isinstance(parent.test, ast.BoolOp)
        and isinstance(parent.body[-1], ast.Raise)
        and not parent.orelse
        and (module.truth(parent.test) is False or _asks_for_nccl(parent.test))
    )


def _asks_for_nccl(test: ast.expr) -> bool:
    words = (getattr(node, "attr", getattr(node, "value", "")) for node in descend(test))
    return any(str(word).lower() == "nccl" for word in words)


def _divides(node: ast.expr, module: Module) -> bool:
    """Tell whether a count is divided by, itself or through the variable it is assigned to."""
    call = module.parent(node)
    if not isinstance(call, ast.Call) or not module.is_named(node, "torch.cuda.device_count"):
        return False
    statement = module.parent(call)
    uses: list[ast.expr] = [call]
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        uses += module.index.names[statement.targets[0].id]
    return any(_is_divisor(use, module) for use in uses)


def _is_divisor(node: ast.expr, module: Module) -> bool:
    parent = module.parent(node)
    return (
        isinstance(parent, ast.BinOp)
        and isinstance(parent.op, ast.FloorDiv | ast.Div | ast.Mod)
        and parent.right is node
    )
