"""TPA406: Python loops over tensors' rows, time steps and experts."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.python.tensors import tensors
from tpu_audit.rules.python.upkeep import on_host
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.syncs.each_step import is_rare, is_replaced
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_EXPERTS = re.compile(r"(?:^|_)experts?(?:_hit|_hitted)?$")
_CHUNKS = 3
"""Arguments of ``range`` that goes through a tensor in chunks."""
_PARTS = frozenset({"split", "chunk", "tensor_split", "split_with_sizes", "meshgrid"})
_LAYERS = re.compile(r"level|layer|stage|scale|head|stack")
"""Names of what a model has few of, as many each time."""
_LENGTH = re.compile(r"(?:^|_)(?:seq_?len|seqlen|seq_length|length|timesteps|n_steps|T|L)$")

RULE = Rule(
    code="TPA406",
    name="unrolled-loop",
    severity=Severity.WARNING,
    words=("forward",),
    in_tests=None,
    docs=Docs(
        what="Finds loops in `forward` over the rows of a tensor, over time steps that index a "
        "tensor, and over experts. Loops over layers are left alone.",
        why="Each turn becomes code of its own in the TPU's program: it compiles slowly, and runs "
        "many small operations one after the other.",
        example="def forward(self, x):\n    for t in range(x.size(1)):\n"
        "        h = self.cell(x[:, t], h)",
        instead="def forward(self, x):\n    y, h = self.rnn(x, h)  # one batched or scanned op",
        references=("https://docs.pytorch.org/docs/stable/generated/torch.vmap.html",),
    ),
    valid=(
        Case(
            "import torch\ndef forward(self, hidden_states: torch.Tensor):\n"
            "    for level in range(hidden_states.shape[1]):\n"
            "        out = self.heads[level](hidden_states[:, level])\n    return out\n"
        ),
        Case(
            "import torch\ndef forward(self, x):\n    for layer in self.layers:\n"
            "        x = layer(x)\n"
        ),
        Case(
            "import torch\ndef forward(self, x):\n    for i in range(self.num_layers):\n"
            "        x = self.blocks[i](x)\n    return x\n"
        ),
        Case("def split(x):\n    for t in range(x.size(1)):\n        print(x[:, t])\n"),
        Case("import torch\ndef forward(self, xs: list):\n    for x in xs:\n        self.f(x)\n"),
        Case(
            "from ...integrations import use_experts_implementation\n"
            "@use_experts_implementation(is_transposed=True)\nclass Experts(torch.nn.Module):\n"
            "    def forward(self, x, top_k):\n        for expert in self.hit(top_k):\n"
            "            x = x + self.one(expert, x)\n        return x\n"
        ),
    ),
    invalid=(
        Case(
            "import torch\nclass R(torch.nn.Module):\n    def forward(self, x, h):\n"
            "        for t in range(x.size(1)):\n            h = self.cell(x[:, t], h)\n"
            "        return h\n",
            lines=(4,),
        ),
        Case(
            "import torch\ndef forward(self, x: torch.Tensor):\n    n, seq_len, d = x.shape\n"
            "    for i in range(1, seq_len):\n        y.append(self.f(x[:, i]))\n",
            lines=(4,),
        ),
        Case(
            "import torch\nclass MoE(torch.nn.Module):\n    def forward(self, hidden_states):\n"
            "        for i, expert in enumerate(self.experts):\n"
            "            out = out + expert(hidden_states) * w[i]\n",
            lines=(4,),
        ),
        Case(
            "import torch\ndef forward(self, x: torch.Tensor):\n    out = []\n"
            "    for row in x:\n        out.append(self.f(row))\n",
            lines=(4,),
        ),
    ),
)


@RULE.node(ast.For)
def check(node: ast.For, module: Module) -> Iterator[Hit]:
    """Find the loops."""
    function = module.context(node).function
    if function is None or function.name != "forward" or is_rare(node, module):
        return
    if is_replaced(node, module) or on_host(node, module):
        return
    what = _what(node, module)
    if what:
        yield module.hit(
            node.iter,
            f"this loop over {what} is unrolled into the TPU's program, turn by turn",
            "batch it, or use an op that scans",
        )


def _what(node: ast.For, module: Module) -> str:
    words = {getattr(n, "attr", getattr(n, "id", "")) for n in descend(node.iter)}
    if any(_EXPERTS.search(word) for word in words):
        return "experts"
    iterated = node.iter
    if isinstance(iterated, ast.Call) and getattr(iterated.func, "id", "") == "range":
        if _LAYERS.search(module.code(node.target)):
            return ""
        counts = len(iterated.args) < _CHUNKS and any(_is_length(a, module) for a in iterated.args)
        return "steps of a tensor" if counts and _indexes(node, module) else ""
    if isinstance(iterated, ast.Call) and getattr(iterated.func, "id", "") == "enumerate":
        iterated = iterated.args[0] if iterated.args else iterated
    plain = isinstance(iterated, ast.Name | ast.Subscript) and not _is_split(iterated, module)
    return "a tensor's rows" if plain and tensors(module).is_tensor(iterated) else ""


def _is_split(node: ast.expr, module: Module) -> bool:
    """Tell whether a name holds the parts of a tensor: as many as the code says."""
    bindings = module.scopes.bindings(node) if isinstance(node, ast.Name) else ()
    calls = [binding.value for binding in bindings if isinstance(binding.value, ast.Call)]
    return any(getattr(call.func, "attr", "") in _PARTS for call in calls)


def _is_length(node: ast.expr, module: Module) -> bool:
    """Tell whether a number is a dimension of a tensor's: ``x.size(1)``, ``x.shape[1]``."""
    if isinstance(node, ast.Name):
        values = [binding.value for binding in module.scopes.bindings(node)]
        return _LENGTH.search(node.id) is not None or any(
            v is not None and _is_length(v, module) for v in values if not isinstance(v, ast.Name)
        )
    if module.code(node).endswith(("[-1]", "(-1)", "(dim=-1)")):
        return False  # features, not steps
    for part in descend(node):
        if isinstance(part, ast.Attribute) and part.attr in {"size", "shape"}:
            return tensors(module).may_be(part.value)
    return False


def _indexes(node: ast.For, module: Module) -> bool:
    """Tell whether the loop's variable indexes a tensor in its body."""
    if not isinstance(node.target, ast.Name):
        return False
    return any(
        isinstance(part, ast.Subscript)
        and tensors(module).may_be(part.value)
        and any(isinstance(n, ast.Name) and n.id == node.target.id for n in descend(part.slice))
        for statement in node.body
        for part in descend(statement)
    )
