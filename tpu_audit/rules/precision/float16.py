"""TPA303: float16 as a working dtype."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.precision.dtypes import AMP, REFERENCE, is_wished, takes_dtype
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.arguments import renamed
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_MESSAGE = "float16 on a TPU is rounded to bfloat16 in matrix products and misses flash attention"
_ADVICE = "work in bfloat16"

RULE = Rule(
    code="TPA303",
    name="float16",
    severity=Severity.WARNING,
    words=("float16", "half"),
    docs=Docs(
        what="Finds `.half()` and float16 where tensors are made, moved or cast, unless an option "
        "asks for it. Comparisons and tables of dtypes are left alone.",
        why="A TPU multiplies in bfloat16: float16 inputs are rounded to it, keep float16's narrow "
        "range, and take attention off the flash kernel, which accepts bfloat16 and float32.",
        example="model = model.half()\nx = x.to(torch.float16)",
        instead="model = model.to(torch.bfloat16)\nx = x.to(torch.bfloat16)",
        fix_safety="Unsafe: bfloat16 rounds differently, and old GPUs compute it slowly.",
        references=(REFERENCE, AMP),
    ),
    valid=(
        Case("import torch\n_ = torch.empty(n, dtype=torch.float16, device=device)\n"),
        Case("import torch\nx = x.to(torch.bfloat16)\n"),
        Case("import torch\nif x.dtype == torch.float16:\n    x = x.float()\n"),
        Case('import torch\nTYPES = {"fp16": torch.float16, "fp32": torch.float32}\n'),
        Case("import torch\nif args.half:\n    model.half()\n"),
        Case("import torch\ny = x.to(torch.float16).float()\n"),
        Case("import torch\ndef strip(m, path):\n    m.half()\n    torch.save(m, path)\n"),
        Case("class W(Base):\n    def half(self):\n        return super().half()\n"),
        Case("import numpy as np\nx = x.astype(np.float16)\n"),
        Case("import torch\nH = torch.float16\nif args.half:\n    m = m.to(H)\n"),
        Case("import torch\nH = torch.float16\nif x.dtype == H:\n    x = x.float()\n"),
        Case("import torch\nweight_dtype = torch.float16 if args.fp16 else torch.float32\n"),
    ),
    invalid=(
        Case(
            "import torch\nmodel = load().half().eval()\n",
            lines=(2,),
            columns=(16,),
            fixed="import torch\nmodel = load().to(torch.bfloat16).eval()\n",
        ),
        Case(
            "import torch\ny = (a + b).half()\n",
            lines=(2,),
            fixed="import torch\ny = (a + b).to(torch.bfloat16)\n",
        ),
        Case(
            "import torch as th\nx = th.zeros(3, dtype=th.float16)\ny = x.to(th.half)\n",
            lines=(2, 3),
            fixed="import torch as th\nx = th.zeros(3, dtype=th.bfloat16)\ny = x.to(th.bfloat16)\n",
        ),
        Case(
            "import torch\ndef build(dtype=torch.float16):\n    return dtype\n",
            lines=(2,),
            fixed="import torch\ndef build(dtype=torch.bfloat16):\n    return dtype\n",
        ),
        Case(
            "import torch\nPRECISION = torch.half\nmodel = Net().to(dtype=PRECISION)\n",
            lines=(2,),
            fixed="import torch\nPRECISION = torch.bfloat16\nmodel = Net().to(dtype=PRECISION)\n",
        ),
        Case(
            "import torch\nTYPES = {'a': torch.half, 'b': torch.float}\nm = m.to(TYPES['a'])\n",
            lines=(2,),
            fixed="import torch\nTYPES = {'a': torch.bfloat16, 'b': torch.float}\n"
            "m = m.to(TYPES['a'])\n",
        ),
        Case(
            "from torch import float16\nimport torch\ntorch.set_default_dtype(float16)\n",
            lines=(3,),
        ),
    ),
)


@RULE.use("torch.float16", "torch.half")
def dtype(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find the dtype where it is worked with."""
    del name
    if _is_cast_back(node, module) or _is_dropped(node, module):
        return
    if (takes_dtype(node, module) or _is_picked(node, module)) and not is_wished(node, module):
        yield module.hit(node, _MESSAGE, _ADVICE, fix=_fix(node, module))


def _is_picked(node: ast.expr, module: Module) -> bool:
    """Tell an entry of a table that the file picks by its literal key: ``TYPES["fp16"]``."""
    table = module.parent(node)
    statement = module.parent(table) if isinstance(table, ast.Dict) else None
    if not isinstance(table, ast.Dict) or not isinstance(statement, ast.Assign | ast.Subscript):
        return False
    keys = zip(table.keys, table.values, strict=True)
    key = next((getattr(k, "value", None) for k, value in keys if value is node), None)
    parents: list[ast.AST | None] = [statement]
    if isinstance(statement, ast.Assign):
        uses = module.index.names[_word(statement.targets[0])]
        parents = [module.parent(use) for use in uses]
    return key is not None and any(
        isinstance(use, ast.Subscript)
        and getattr(use.slice, "value", None) == key
        and takes_dtype(use, module)
        for use in parents
    )


def _word(node: ast.expr) -> str:
    return str(getattr(node, "id", ""))


@RULE.method("half")
def method(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find ``x.half()``."""
    if call.args or call.keywords or module.is_imported(receiver) or is_wished(call, module):
        return
    if _is_stored(call, module):
        return
    edit = renamed(call, f"to({repair.torch_name(module)}.bfloat16)", module)
    fix = repair.fix(module, Applicability.UNSAFE, edit) if edit else None
    yield module.hit(call, _MESSAGE, _ADVICE, fix=fix, span=module.method_span(call))


def _is_cast_back(node: ast.expr, module: Module) -> bool:
    """Tell ``x.to(torch.float16).float()``, which rounds and works on in float32."""
    call = module.parent(node)
    return isinstance(call, ast.Call) and getattr(module.parent(call), "attr", "") == "float"


def _is_dropped(node: ast.expr, module: Module) -> bool:
    """Tell ``_ = torch.empty(..., dtype=torch.float16)``, which only takes memory."""
    statement = module.statement(node)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(getattr(target, "id", "") == "_" for target in targets)


def _is_stored(call: ast.Call, module: Module) -> bool:
    """Tell ``x.half()`` of what a checkpoint holds: a copy, or in a function that saves."""
    around = module.context(call).function
    if around is None:
        return False
    callees = [n.func for n in descend(around) if isinstance(n, ast.Call)]
    return any("save" in getattr(c, "attr", getattr(c, "id", "")).lower() for c in callees)


def _fix(node: ast.expr, module: Module) -> Fix:
    text = f"{repair.torch_name(module)}.bfloat16"
    return repair.fix(module, Applicability.UNSAFE, module.edit(node, text))
