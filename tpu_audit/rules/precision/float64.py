"""TPA305: float64 on the device."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.precision.dtypes import REFERENCE, arms_of, dtype_of, takes_dtype
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.arguments import renamed
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.python.tensors import tensors
from tpu_audit.rules.python.upkeep import on_host
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Edit, Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_MESSAGE = "a TPU has no float64 units: the compiler emulates it, many times slower than float32"
_NOTE = "float64 that reaches a TPU is emulated there, many times slower than float32"
_MOVES = ("device", "cuda", "register_buffer")
_ADVICE = "compute in float32 on the device, or in float64 on the CPU"

_FEW = 16
"""Numbers that cost nothing in whatever precision."""

RULE = Rule(
    code="TPA305",
    name="float64",
    severity=Severity.WARNING,
    words=("float64", "double"),
    docs=Docs(
        what="Finds `.double()` and float64 in what runs each step or is made on a device, "
        "`set_default_dtype(torch.float64)`, and lists of devices without float64 that a TPU is "
        "missing from. Elsewhere float64 is worth a note.",
        why="A TPU has no float64 units. Nothing raises: the compiler emulates float64 in pairs "
        "of float32, many times slower, and some operations, FFTs for one, are refused.",
        example="def forward(self, x):\n    freqs = torch.outer(t, inv_freq).double()",
        instead="def forward(self, x):\n    freqs = torch.outer(t, inv_freq).float()",
        fix_safety="Unsafe: float32 has fewer digits.",
        references=(REFERENCE, "https://openxla.org/stablehlo/spec"),
    ),
    valid=(
        Case(
            "import torch\nclass Rope:\n    def __init__(self, dim):\n"
            "        kind = torch.float32 if torch.backends.mps.is_available() else torch.float64\n"
            "        self.freqs = rotary(dim, freqs_dtype=kind)\n"
        ),
        Case(
            "import torch\ndef set_timesteps(self, sigmas, device):\n"
            "    kind = torch.float32 if torch.backends.mps.is_available() else torch.float64\n"
            "    if sigmas is None:\n        sigmas = torch.linspace(0, 1, 9, dtype=kind)\n"
            "    else:\n        sigmas = sigmas.to(kind)\n"
            "    return sigmas.to(dtype=torch.float32, device=device)\n"
        ),
        Case(
            "import torch\nwith torch.device('cpu'):\n"
            "    f = torch.arange(9, dtype=torch.float64, device=base.device)\n"
        ),
        Case(
            "import torch\nkind = torch.float32 if torch.backends.mps.is_available() else "
            "torch.float64\nsigmas = torch.linspace(0, 1, 9, dtype=kind)\n"
        ),
        Case("import torch\nif x.dtype == torch.float64:\n    x = x.float()\n"),
        Case("import numpy as np\ndef forward(self, x):\n    return np.zeros(3, np.float64)\n"),
        Case('import torch\nKINDS = {"double": torch.float64, "float": torch.float32}\n'),
        Case("import torch\nx = x.cpu().double()\n"),
        Case("from game import dice\ndef step():\n    dice.double()\n"),
        Case(
            "import torch\ndef weights(counts):\n"
            "    counts = torch.tensor(counts, dtype=torch.float64)\n"
            "    return (counts / counts.sum()).to(torch.float32)\n"
        ),
    ),
    invalid=(
        Case(
            "import torch\nclass N(torch.nn.Module):\n    def forward(self, x):\n"
            "        return self.f(x.double())\n",
            lines=(4,),
            columns=(25,),
            fixed="import torch\nclass N(torch.nn.Module):\n    def forward(self, x):\n"
            "        return self.f(x.float())\n",
            severity=Severity.WARNING,
        ),
        Case(
            "import torch as th\npos = th.arange(9, dtype=th.float64, device=dev)\n",
            lines=(2,),
            fixed="import torch as th\npos = th.arange(9, dtype=th.float32, device=dev)\n",
            severity=Severity.WARNING,
        ),
        Case("import torch\ntorch.set_default_dtype(torch.double)\n", lines=(2,)),
        Case(
            "import torch\nscale = torch.tensor(steps, dtype=torch.float64)\nx = scale.to(place)\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\ndef step(self, n):\n"
            "    steps = torch.linspace(0, 1, n, dtype=torch.float64)\n"
            "    return self.fit(steps, self.device)\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
        Case(
            'import torch\nkind = torch.float32 if x.device.type == "mps" else torch.float64\n',
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "import torch\ndef kind(device):\n    if device.type in {'mps'}:\n"
            "        return torch.float32\n    return torch.float64\n",
            lines=(3,),
            severity=Severity.WARNING,
        ),
        Case("import torch\nt = t.to(device, dtype=torch.float64)\n", lines=(2,)),
        Case("if x.device.type != 'mps':\n    f = a.double()\n", lines=(2,)),
        Case(
            'import torch\nWEAK = ("mps", "npu")\n'
            "def fit(dtype, device):\n    if dtype == torch.float64 and device.type in WEAK:\n"
            "        dtype = torch.float32\n    return dtype\n",
            lines=(4,),
        ),
    ),
)


@RULE.use("torch.float64", "torch.double")
def dtype(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find the dtype where it is worked with, and where a TPU is missing from a list."""
    del name
    choice = _choice(node, module)
    if choice is not None:
        if _only_made(choice, module):
            return
        yield module.hit(choice, f"this test leaves a TPU out: {_MESSAGE}", _ADVICE)
    elif takes_dtype(node, module) and not _on_host(node, module) and not _is_own(node, module):
        severity = _severity(node, module)
        if severity is Severity.INFO and _is_made(node, module) and not _names_device(module):
            return
        text = f"{repair.torch_name(module)}.float32"
        yield module.hit(
            node,
            _said(severity),
            _ADVICE,
            fix=_fix(module.edit(node, text), module),
            severity=severity,
        )


@RULE.method("double")
def method(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find ``x.double()``."""
    moved = tensors(module).of(receiver)
    if call.args or call.keywords or module.is_imported(receiver) or moved.on_host:
        return
    if _is_own(call, module):
        return
    severity = _severity(call, module)
    yield module.hit(
        call,
        _said(severity),
        _ADVICE,
        fix=_fix(renamed(call, "float()", module), module),
        severity=severity,
        span=module.method_span(call),
    )


@RULE.node(ast.If)
def statement(node: ast.If, module: Module) -> Iterator[Hit]:
    """Find ``if device.type == "mps": return float32``, and float64 for the rest."""
    arms = arms_of(node, module)
    truth = module.truth(node.test) if set(arms) == {"float32", "float64"} else None
    if truth is not None and arms[not truth] == "float64":
        yield module.hit(node.test, f"this test leaves a TPU out: {_MESSAGE}", _ADVICE)


def _said(severity: Severity) -> str:
    return _NOTE if severity is Severity.INFO else _MESSAGE


def _is_made(dtype: ast.expr, module: Module) -> bool:
    """Tell the dtype of a new tensor, made in the host's memory since no device is named."""
    argument = module.parent(dtype)
    call = module.parent(argument) if isinstance(argument, ast.keyword) else None
    return isinstance(call, ast.Call) and tensors(module).of(call).on_host


def _names_device(module: Module) -> bool:
    """Tell whether anything in the file may move a tensor to a device."""
    index = module.index
    return bool(
        index.keywords.get("device")
        or index.names.get("device")
        or any(index.attributes.get(name) for name in _MOVES)
        or any(_may_move(node, module) for node in index.attributes.get("to", ()))
    )


def _may_move(callee: ast.Attribute, module: Module) -> bool:
    """Tell ``x.to(place)`` from ``x.to(torch.float64)`` and ``x.to(y.dtype)``."""
    call = module.parent(callee)
    if not isinstance(call, ast.Call) or not call.args:
        return False
    first = call.args[0]
    return not dtype_of(first, module) and getattr(first, "attr", "") != "dtype"


def _is_own(node: ast.AST, module: Module) -> bool:
    """Tell a class's own ``double``, which does what its callers ask for."""
    function = module.context(node).function
    return function is not None and function.name == "double"


def _fix(edit: Edit | None, module: Module) -> Fix | None:
    return None if edit is None else repair.fix(module, Applicability.UNSAFE, edit)


def _severity(node: ast.expr, module: Module) -> Severity:
    """Judge by where it runs: each step or on a named device, or once, on the host as a rule."""
    parent = module.parent(node)
    call = module.parent(parent) if isinstance(parent, ast.keyword) else parent
    default = isinstance(call, ast.Call) and module.is_named(call.func, "torch.set_default_dtype")
    device = isinstance(call, ast.Call) and (
        keyword(call, "device") is not None or _moves_too(call, module)
    )
    if isinstance(call, ast.Call) and _is_one(call, module):
        return Severity.INFO
    made = isinstance(call, ast.Call) and tensors(module).of(call).on_host
    hot = device or _past_weak_devices(node, module) or (module.context(node).hot and not made)
    return Severity.WARNING if default or (hot and not on_host(node, module)) else Severity.INFO


def _past_weak_devices(node: ast.AST, module: Module) -> bool:
    """Tell what stands under ``if x.device.type != "mps":``, which a TPU passes."""
    child, parent = node, module.parent(node)
    while parent is not None:
        test = parent.test if isinstance(parent, ast.If) and child in parent.body else None
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotEq | ast.NotIn):
            kinds = {k for e in _kinds(test, module) for k in module.value(e).strings()}
            if kinds and kinds <= {"mps", "npu"} and module.is_device(test.left):
                return True
        child, parent = parent, module.parent(parent)
    return False


def _moves_too(call: ast.Call, module: Module) -> bool:
    """Tell ``x.to(device, torch.float64)``."""
    return (
        getattr(call.func, "attr", "") == "to"
        and bool(call.args)
        and module.is_device(call.args[0])
        and not tensors(module).is_host(call.args[0])
    )


def _only_made(choice: ast.expr, module: Module) -> bool:
    """Tell a dtype that is chosen for tensors which the host makes for itself."""
    statement = module.parent(choice)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name):
        return False
    scope = module.scopes.owner(target)
    uses = [
        use
        for use in module.index.names.get(target.id, ())
        if isinstance(use.ctx, ast.Load) and module.scopes.owner(use) is scope
    ]
    function = module.context(choice).function
    if function is not None and function.name == "__init__":
        return bool(uses) and not any(_has_device(use, module) for use in uses)
    made = [use for use in uses if _is_made(use, module)]
    return bool(made) and all(use in made or _casts(use, module) for use in uses)


def _casts(dtype: ast.expr, module: Module) -> bool:
    """Tell ``x.to(dtype)`` beside what the host makes: of the same kind."""
    call = module.parent(dtype)
    return isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "to"


def _has_device(dtype: ast.expr, module: Module) -> bool:
    argument = module.parent(dtype)
    call = module.parent(argument) if isinstance(argument, ast.keyword) else argument
    return isinstance(call, ast.Call) and keyword(call, "device") is not None


def _on_cpu(node: ast.AST, module: Module) -> bool:
    """Tell whether ``node`` stands under ``with torch.device("cpu"):``."""
    parent = module.parent(node)
    while parent is not None:
        for item in parent.items if isinstance(parent, ast.With) else ():
            call = item.context_expr
            named = isinstance(call, ast.Call) and module.is_named(call.func, "torch.device")
            if named and isinstance(call, ast.Call) and call.args:
                return tensors(module).is_host(call.args[0])
        parent = module.parent(parent)
    return False


def _is_one(call: ast.Call, module: Module) -> bool:
    """Tell ``torch.tensor([x], ...)`` and ``torch.zeros((), ...)``: one number costs nothing."""
    given = call.args[0] if call.args else None
    if module.is_named(call.func, "torch.tensor") and isinstance(given, ast.List):
        return len(given.elts) == 1 and not isinstance(given.elts[0], ast.List | ast.Starred)
    makes = module.is_named(call.func, "torch.zeros", "torch.ones", "torch.full", "torch.empty")
    single = isinstance(given, ast.Tuple) and not given.elts
    count = getattr(given, "value", None)
    return makes and (single or (isinstance(count, int) and count <= _FEW))


def _on_host(node: ast.expr, module: Module) -> bool:
    """Tell whether the dtype is of a tensor that certainly stays in the host's memory."""
    parent = module.parent(node)
    call = module.parent(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call):
        return False
    if _on_cpu(node, module):
        return True
    if _moves_too(call, module):
        return False
    device = keyword(call, "device")
    if device is not None:
        return tensors(module).is_host(device)
    callee = call.func
    moves = isinstance(callee, ast.Attribute) and callee.attr in {"to", "type", "astype"}
    return moves and isinstance(callee, ast.Attribute) and tensors(module).of(callee.value).on_host


def _choice(node: ast.expr, module: Module) -> ast.expr | None:
    """Return the test by which a TPU gets float64 where other weak devices get float32."""
    parent, child = module.parent(node), node
    if isinstance(parent, ast.IfExp) and child is not parent.test:
        other = parent.orelse if child is parent.body else parent.body
        truth = module.truth(parent.test)
        taken = truth is not None and truth is (child is parent.body)
        return parent if taken and dtype_of(other, module) == "float32" else None
    while isinstance(parent, ast.Compare | ast.BoolOp):
        if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And):
            holder = module.parent(parent)
            narrows = isinstance(holder, ast.If | ast.IfExp) and holder.test is parent
            return parent if narrows and _names_devices(parent, module) else None
        child, parent = parent, module.parent(parent)
    return None


def _names_devices(test: ast.BoolOp, module: Module) -> bool:
    """Tell whether a part of the test asks for devices other than CUDA that a TPU is not."""
    return any(
        isinstance(part, ast.Compare)
        and module.is_device(part.left)
        and module.truth(part) is False
        and not {"cuda", "gpu"}
        & {text for e in _kinds(part, module) for text in module.value(e).strings()}
        for part in test.values
    )


def _kinds(part: ast.Compare, module: Module) -> list[ast.expr]:
    right = part.comparators[0]
    return module.elements(right) or [right]
