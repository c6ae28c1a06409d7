"""TPA410: tensors copied to the host each step."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.python.tensors import tensors
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.syncs.each_step import XLA, is_evaluation, runs_each_step
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_MESSAGE = "this copy to the host each step makes it wait for the TPU, and breaks compiled graphs"
_ADVICE = "compute with PyTorch's operations on the device, and copy once at the end"

RULE = Rule(
    code="TPA410",
    name="host-copy",
    severity=Severity.WARNING,
    words=("cpu", "numpy"),
    in_tests=None,
    docs=Docs(
        what='Finds `.cpu()`, `.to("cpu")`, `.numpy()` and NumPy functions on tensors in '
        "`forward`, training loops and what they call, and `.numpy()` behind a copy that only CUDA "
        "tensors get. In evaluation loops a copy is worth a note.",
        why="The host waits for the TPU each step, and a compiled graph ends there.",
        example="def forward(self, x):\n    i = np.argsort(x.cpu().numpy())",
        instead="def forward(self, x):\n    i = torch.argsort(x)",
        references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.cpu.html", XLA),
    ),
    valid=(
        Case("import torch\nout = model(x)\narr = out.detach().cpu().numpy()\n"),
        Case("import torch\ndef forward(self, x):\n    if torch.is_tensor(x):\n        return x\n"),
        Case("import numpy as np\ndef step(df):\n    return np.mean(df.numpy())\n"),
        Case("import torch\nfor x in loader:\n    t = torch.zeros(3).numpy()\n    model.cpu()\n"),
        Case("import torch\ndef to_numpy(t):\n    return t.detach().cpu().numpy()\n"),
        Case(
            "import torch\ndef forward(self, x: torch.Tensor):\n    if hasattr(x, 'cpu'):\n"
            "        x = x.detach().cpu()\n    return x\n"
        ),
        Case(
            "def forward(self, inputs):\n    return [_array(x.detach()) for x in inputs]\n"
            "def _array(x):\n    if hasattr(x, 'numpy'):\n        return x.numpy()\n"
            "    return list(x)\n"
        ),
        Case(
            "import torch\ndef forward(ctx, run, x: torch.Tensor):\n"
            "    kept = x.to('cpu', non_blocking=True)\n    return run(x), kept\n"
        ),
    ),
    invalid=(
        Case(
            "import torch\nclass P(torch.nn.Module):\n    def forward(self, x):\n"
            "        y = self.net(x)\n        if self.training:\n            return self.loss(y)\n"
            "        else:\n            return y.detach().cpu().numpy()\n",
            lines=(8,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\nclass N(torch.nn.Module):\n    def forward(self, x):\n"
            "        return self.lookup(x.detach().cpu().numpy())\n",
            lines=(4,),
            columns=(39,),
            severity=Severity.WARNING,
        ),
        Case(
            "import numpy as np\nimport torch\ndef forward(self, x: torch.Tensor):\n"
            "    order = np.argsort(x)\n    y = x.to('cpu')\n    return y[order]\n",
            lines=(4, 5),
            severity=Severity.WARNING,
        ),
        Case(
            "import torch\nfor x in val_loader:\n    out = model(x)\n"
            "    preds.append(out.logits.cpu())\n",
            lines=(4,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\nfor x, y in loader:\n    out = model(x)\n"
            "    criterion(out, y).backward()\n    seen.extend(out.argmax(1).cpu().numpy())\n",
            lines=(5,),
            severity=Severity.WARNING,
        ),
        Case(
            "def as_array(t):\n    if t.is_cuda:\n        t = t.cpu()\n    return t.numpy()\n",
            lines=(4,),
            severity=Severity.WARNING,
        ),
    ),
)


@RULE.method("cpu", "to", "numpy")
def methods(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find copies of tensors."""
    word = getattr(call.func, "attr", "")
    if word == "numpy" and _copied_on_cuda(receiver, module):
        yield module.hit(
            call,
            "`.numpy()` raises here for a tensor on a TPU: only CUDA tensors are copied first",
            "write `.cpu().numpy()` for every device",
            span=module.method_span(call),
        )
        return
    copies = (word != "to" or _is_to_host(call, module)) and not _may_lack(call, module)
    if copies and tensors(module).may_be(receiver) and runs_each_step(call, module):
        yield _hit(call, module)


@RULE.call("numpy.*")
def functions(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find NumPy's functions on tensors."""
    del name
    given = [a for a in call.args[:2] if tensors(module).is_tensor(a)]
    if given and runs_each_step(call, module):
        yield _hit(call, module)


def _hit(call: ast.Call, module: Module) -> Hit:
    is_method = isinstance(call.func, ast.Attribute) and not module.is_imported(call.func.value)
    return module.hit(
        call,
        _MESSAGE,
        _ADVICE,
        severity=Severity.INFO if is_evaluation(call, module) else None,
        span=module.method_span(call) if is_method else None,
    )


def _is_to_host(call: ast.Call, module: Module) -> bool:
    """Tell ``x.to("cpu")``; with ``non_blocking=True`` nobody waits for it."""
    if getattr(keyword(call, "non_blocking"), "value", False) is True:
        return False
    device = call.args[0] if call.args else keyword(call, "device")
    return device is not None and tensors(module).is_host(device)


def _may_lack(call: ast.Call, module: Module) -> bool:
    """Tell ``if hasattr(x, "numpy"): x.numpy()``, which converts whatever it is given."""
    function = module.context(call).function
    callee = call.func
    if function is None or not isinstance(callee, ast.Attribute):
        return False
    held: ast.expr = callee.value
    while isinstance(held, ast.Call) and isinstance(held.func, ast.Attribute):
        held = held.func.value
    for name in module.index.names.get("hasattr", ()):
        asks = module.parent(name)
        if isinstance(asks, ast.Call) and len(asks.args) > 1 and asks.func is name:
            same = module.code(asks.args[0]) == module.code(held)
            if same and module.value(asks.args[1]).strings() == (callee.attr,):
                return module.context(asks).function is function
    return False


def _copied_on_cuda(receiver: ast.expr, module: Module) -> bool:
    """Tell whether a name's only copy to the host is in an arm that a TPU does not take."""
    if not isinstance(receiver, ast.Name):
        return False
    copies = [
        binding.value
        for binding in module.scopes.bindings(receiver)
        if isinstance(binding.value, ast.Call)
        and getattr(binding.value.func, "attr", "") in {"cpu", "to"}
    ]
    return bool(copies) and all(module.reach(copy).dead for copy in copies)
