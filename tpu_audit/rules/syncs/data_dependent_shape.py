"""TPA403: nonzero and its like each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.python.tensors import tensors
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.syncs.each_step import SHAPES, XLA, runs_each_step
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

RULE = Rule(
    code="TPA403",
    name="data-dependent-shape",
    severity=Severity.WARNING,
    words=("nonzero", "argwhere", "where", "flatnonzero"),
    in_tests=None,
    docs=Docs(
        what="Finds `nonzero`, `argwhere` and `where(condition)` alone, in code that runs each "
        "step.",
        why="How many indices there are is known on the device only: the kernel reads the count "
        "back to the host, and whatever takes the result is compiled anew for each count.",
        example="rows = torch.nonzero(mask)\nout.index_add_(0, rows[:, 0], x[rows[:, 0]])",
        instead="out = out + torch.where(mask[:, None], x, 0)",
        references=(
            "https://docs.pytorch.org/docs/stable/generated/torch.nonzero.html",
            SHAPES,
            XLA,
        ),
    ),
    valid=(
        Case(
            "import torch\nfrom ...integrations import use_experts_implementation\n"
            "@use_experts_implementation\nclass Experts(torch.nn.Module):\n"
            "    def forward(self, x, top_k):\n        hit = torch.nonzero(top_k.sum(0))\n"
            "        return x[hit]\n"
        ),
        Case(
            "import torch\nclass Euler:\n    def index_of(self, timestep):\n"
            "        return (self.timesteps == timestep).nonzero()\n"
            "    def _init_step_index(self, timestep: torch.Tensor):\n"
            "        self._step_index = self.index_of(timestep)\n"
            "    def step(self, out: torch.Tensor, timestep: torch.Tensor):\n"
            "        if self.step_index is None:\n            self._init_step_index(timestep)\n"
            "        return out * self.sigmas[self.step_index]\n"
        ),
        Case("import torch\ndef forward(self, x):\n    return torch.where(x > 0, x, 0.0)\n"),
        Case(
            "import numpy as np\ndef forward(self, x):\n    return np.where(np.array(x) > 0)[0]\n"
        ),
        Case("import torch\nidx = torch.nonzero(table)\n"),
        Case("import pandas as pd\ndef step(df):\n    return df.where(df.x > 0)\n"),
    ),
    invalid=(
        Case(
            "import torch\ndef forward(self, mask):\n    return torch.nonzero(mask)\n", lines=(3,)
        ),
        Case(
            "import torch as th\nfor x in loader:\n    i, j = th.where(model(x) > 0.5)\n",
            lines=(3,),
        ),
        Case(
            "from torch import Tensor\ndef forward(self, m: Tensor) -> Tensor:\n"
            "    keep = m.bool().nonzero(as_tuple=True)[0]\n    return keep\n",
            lines=(3,),
        ),
        Case(
            "import torch\ndef pick(s):\n    return torch.argwhere(s > 0)\n"
            "def training_step(self, batch):\n    return pick(self.net(batch))\n",
            lines=(3,),
        ),
    ),
)


@RULE.call("torch.nonzero", "torch.argwhere", "torch.where")
def calls(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find the functions."""
    if name == "torch.where" and len(call.args) + len(call.keywords) != 1:
        return
    given = [*call.args, *(k.value for k in call.keywords if k.arg in {"input", "condition"})]
    on_host = bool(given) and tensors(module).of(given[0]).on_host
    if not on_host and runs_each_step(call, module):
        yield _hit(call, name, module)


@RULE.method("nonzero", "argwhere")
def methods(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find the methods."""
    if tensors(module).may_be(receiver) and runs_each_step(call, module):
        yield _hit(call, f"Tensor.{module.code(call.func).rpartition('.')[2]}", module)


def _hit(call: ast.Call, name: str, module: Module) -> Hit:
    return module.hit(
        call,
        f"the shape of `{name}` depends on values: the host waits for the count, and each new "
        "count is compiled anew",
        "compute with the mask itself, or fix the number of results with `topk`",
    )
