"""TPA401: values of tensors read on the host each step."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.python.tensors import Holds, tensors
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.syncs.each_step import REFERENCE, XLA, runs_each_step
from tpu_audit.rules.syncs.sizes import is_size
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_RESULTS = re.compile(r"loss|logit|score|accura|grad|norm|prob|entropy|kl|correct|reward|token")
"""Names of what a training step computes."""
_SHAPE = re.compile(r"shape|(?:^|_)size")
_READERS = ("float", "int", "bool")

RULE = Rule(
    code="TPA401",
    name="host-read",
    severity=Severity.WARNING,
    words=("item", "tolist", "torch", "forward", "backward", "training_step"),
    in_tests=None,
    docs=Docs(
        what="Finds `.item()`, `.tolist()`, `float(t)`, `int(t)` and `bool(t)` of tensors in "
        "`forward`, training loops and what they call. Reads at start-up, once an epoch or every "
        "so many steps are left alone.",
        why="The host waits until the TPU has finished all that was queued, each step anew; "
        "compiled code breaks into two graphs there. Where processes read different numbers of "
        "times, collectives can deadlock.",
        example="for batch in loader:\n    loss = step(batch)\n    total += loss.item()",
        instead="for batch in loader:\n    loss = step(batch)\n    total += loss.detach()\n"
        "print(total.item())",
        references=(REFERENCE, XLA),
    ),
    valid=(
        Case(
            "import torch\ndef _get_unpad_data(mask: torch.Tensor):\n"
            "    return mask.sum(-1).max().item()\n"
            "class A(torch.nn.Module):\n    def forward(self, x, mask):\n"
            "        return self.flash(x, _get_unpad_data(mask))\n"
        ),
        Case(
            "import torch\ndef statistics(loader):\n    for batch in loader:\n"
            "        counts = torch.sum(batch.mask)\n        seen.append(counts.item())\n"
        ),
        Case(
            "import torch\nfor name, loader in loaders:\n    trainer.fit(model, loader)\n"
            "    scores = torch.cat(trainer.predict(model, loader))\n"
            "    out.append(scores.tolist())\n"
        ),
        Case(
            "import torch\nclass Constant:\n    def __call__(self, left):\n        return 0.1\n"
            "class Schedule:\n    def __init__(self, rate):\n        self.rate = Constant()\n"
            "    def __call__(self, left: float):\n        return float(self.rate(left))\n"
        ),
        Case(
            "import torch\ndef step(self, out: torch.Tensor, t: int | torch.Tensor):\n"
            "    if isinstance(t, torch.Tensor):\n        t = t.long()\n    else:\n"
            "        index = int(t)\n    return out * index\n"
        ),
        Case(
            "import torch\ndef forward(self, x: torch.Tensor, mask: torch.Tensor):\n"
            "    if self.backend in _FLASH_ATTENTION_BACKENDS:\n"
            "        padded = not torch.all(mask).item()\n        return self.flash(x, padded)\n"
            "    return self.sdpa(x, mask)\n"
        ),
        Case(
            "import torch\nclass L(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n"
            "        if not self._checked:\n            self._checked = True\n"
            "            self.kind = x.sum().item()\n        if self.first:\n"
            "            self.size = x.amax().item()\n        try:\n"
            "            return self.run(x)\n        except RuntimeError:\n            pass\n"
            "        return self.run(x[: x.amax().item()])\n"
        ),
        Case(
            "import torch\nclass S:\n    def step(self, sample: torch.Tensor):\n"
            "        if self.sampler is None:\n"
            "            self.sampler = Tree(sample, sample.max().item())\n"
            "        return self.sampler(sample)\n"
        ),
        Case(
            "import torch\nclass M(torch.nn.Module):\n    def generate(self, ids: torch.Tensor):\n"
            "        n = ids.max().item()\n        return self.decode(ids, n)\n"
        ),
        Case(
            "import torch\nclass KLEvaluator:\n    def __call__(self, model):\n"
            "        return torch.nn.functional.kl_div(self.a, model.b).item()\n"
        ),
        Case(
            "import torch\nclass WeightedBatchSampler:\n    def __call__(self, w: torch.Tensor):\n"
            "        return torch.multinomial(w, 1).item()\n"
        ),
        Case("import torch\nscale = torch.load(path)['scale'].item()\n"),
        Case(
            "import torch\nfor step, x in enumerate(loader):\n    loss = model(x).loss\n"
            "    if step % 50 == 0:\n        print(loss.item())\n"
        ),
        Case(
            "import numpy as np\nimport torch\nfor x in loader:\n    n = np.mean(x).item()\n"
            "    ids = np.array(x).tolist()\n"
        ),
        Case(
            "import torch\nfor epoch in range(9):\n    for x in loader:\n"
            "        loss = criterion(model(x))\n        loss.backward()\n    print(loss.item())\n"
        ),
        Case(
            "import torch\nfor x in loader:\n    keep = torch.rand(1).item() < 0.5\n"
            "    n = float(len(x))\n"
        ),
        Case(
            "import torch\nfor x in loader:\n    loss = net(x).loss\n    loss.backward()\n"
            "    losses.append(loss.item())\n",
            filename="tests/test_train.py",
        ),
    ),
    invalid=(
        Case(
            "import torch\ndef forward(self, x: torch.Tensor):\n    if x.max().item() > 1.0:\n"
            "        print('too large', x.max().item())\n        x = x.clamp(max=1)\n"
            "    return x\n",
            lines=(3,),
        ),
        Case(
            "import torch\nfor x, y in loader:\n    loss = criterion(model(x), y)\n"
            "    loss.backward()\n    total += loss.item()\n",
            lines=(5,),
            columns=(19,),
        ),
        Case(
            "import torch.nn as nn\nclass Net(nn.Module):\n    def forward(self, x):\n"
            "        n = int(x.abs().max())\n        rows = x.argmax(-1).tolist()\n"
            "        return self.head(x) * n, rows\n",
            lines=(4, 5),
        ),
        Case(
            "import torch\nfrom torch import Tensor\ndef norm(t: Tensor):\n"
            "    return float(t.norm())\n"
            "def training_step(model, batch):\n    return norm(model(batch))\n",
            lines=(4,),
        ),
        Case(
            "import lightning as L\nclass N(L.LightningModule):\n"
            "    def training_step(self, batch, i):\n        loss = self.loss(batch)\n"
            "        self.seen.append(loss.item())\n        return loss\n",
            lines=(5,),
        ),
        Case(
            "import torch\nfor _ in range(limit):\n    logits = model.step(out, memory)\n"
            "    token = logits[0, -1].argmax().item()\n",
            lines=(4,),
        ),
        Case(
            "import torch\nwhile step < steps:\n    out = net(next(it))\n    out.loss.backward()\n"
            "    history.append(out.loss.detach().item())\n    step += 1\n",
            lines=(5,),
        ),
    ),
)


@RULE.method("item", "tolist")
def methods(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find ``x.item()`` and ``x.tolist()`` of tensors."""
    if call.args or call.keywords or not _is_tensor(receiver, call, module):
        return
    if _is_read_before(call, module):
        return
    if runs_each_step(call, module) and not is_size(call, module):
        yield _hit(call, f".{module.code(call.func).rpartition('.')[2]}()", module)


def _is_read_before(call: ast.Call, module: Module) -> bool:
    """Tell what the test around has read already: ``if x.item() > 1: print(x.item())``."""
    text = module.code(call)
    child: ast.AST = call
    parent = module.parent(call)
    while parent is not None and not isinstance(parent, ast.FunctionDef):
        inside = isinstance(parent, ast.If) and child is not parent.test
        if inside and isinstance(parent, ast.If) and text in module.code(parent.test):
            return True
        child, parent = parent, module.parent(parent)
    return False


def _is_tensor(receiver: ast.expr, call: ast.Call, module: Module) -> bool:
    """Judge the receiver; only tensors and NumPy's arrays have ``item``."""
    held = tensors(module).of(receiver)
    if held is not Holds.UNKNOWN:
        return held in {Holds.TENSOR, Holds.LIKELY}
    single = isinstance(call.func, ast.Attribute) and call.func.attr == "item"
    return (
        single
        and module.libraries.may_be_torch
        and _RESULTS.search(module.code(receiver).lower()) is not None
    )


@RULE.module
def builtins(module: Module) -> Iterator[Hit]:
    """Find ``float(x)`` and its like of tensors."""
    for word in _READERS:
        for name in module.index.names.get(word, ()):
            call = module.parent(name)
            if isinstance(call, ast.Call) and call.func is name and len(call.args) == 1:
                read = tensors(module).may_be(call.args[0]) and not _is_shape(call.args[0])
                read = read and not _is_number(call.args[0], module)
                if read and runs_each_step(call, module) and not is_size(call, module):
                    yield _hit(call, f"{word}()", module)


def _is_number(node: ast.expr, module: Module) -> bool:
    """Tell the arm that is left when ``isinstance(x, torch.Tensor)`` is false."""
    text = module.code(node)
    child: ast.AST = node
    parent = module.parent(node)
    while parent is not None and not isinstance(parent, ast.FunctionDef):
        if isinstance(parent, ast.If) and child in parent.orelse:
            test = parent.test
            asks = isinstance(test, ast.Call) and bool(test.args)
            if asks and isinstance(test, ast.Call) and module.code(test.args[0]) == text:
                return True
        child, parent = parent, module.parent(parent)
    return False


def _is_shape(node: ast.expr) -> bool:
    """Tell whether an expression is named like a shape: its numbers are on the host as a rule."""
    return any(_SHAPE.search(getattr(n, "attr", getattr(n, "id", ""))) for n in descend(node))


def _hit(call: ast.Call, what: str, module: Module) -> Hit:
    is_method = isinstance(call.func, ast.Attribute)
    return module.hit(
        call,
        f"`{what}` of a tensor in code that runs each step makes the host wait for the TPU, and "
        "breaks compiled graphs",
        "keep the value on the device, and read it once an epoch or every so many steps",
        span=module.method_span(call) if is_method else None,
    )
