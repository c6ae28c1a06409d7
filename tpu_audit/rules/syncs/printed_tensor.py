"""TPA407: tensors printed or logged each step."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.python.tensors import tensors
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.syncs.each_step import REFERENCE, runs_each_step
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_METHODS = frozenset(
    {
        *("info", "debug", "warning", "error", "add_scalar", "add_scalars", "set_postfix"),
        *("set_description", "log_metric", "log_metrics", "write", "set_postfix_str"),
    }
)
_LOGGERS = re.compile(
    r"log(?:ger|ging)?$|writer|wandb|bar$|tqdm|mlflow|neptune|comet|tb$|board|run$|experiment"
)

RULE = Rule(
    code="TPA407",
    name="printed-tensor",
    severity=Severity.WARNING,
    words=("torch", "forward", "backward", "training_step", "add_scalar", "wandb"),
    in_tests=None,
    docs=Docs(
        what="Finds tensors given to `print`, loggers, progress bars, TensorBoard and wandb in "
        "code that runs each step.",
        why="To show a tensor its value is needed: the host waits for the TPU each step.",
        example='for x in loader:\n    loss = step(x)\n    print(f"loss {loss}")',
        instead="for i, x in enumerate(loader):\n    loss = step(x)\n    if i % 100 == 0:\n"
        '        print(f"loss {loss}")',
        references=(REFERENCE,),
    ),
    valid=(
        Case(
            "import torch\nfor x in loader:\n    loss = model(x).loss\n    print('step', x.shape)\n"
        ),
        Case(
            "import torch\nfor i, x in enumerate(loader):\n    loss = model(x).loss\n"
            "    if i % 10 == 0:\n        print(f'{i}: {loss:.3f}')\n"
        ),
        Case("import torch\nmodel = load()\nprint(model(x).sum())\n"),
        Case(
            "import torch\ndef forward(self, x: torch.Tensor):\n    most = x.abs().mean()\n"
            "    if most > 50:\n        logger.warning(f'{most} is large')\n    return x\n"
        ),
        Case(
            "def training_step(self, batch):\n    loss = self.net(batch).loss\n"
            "    self.log('loss', loss)\n    return loss\n"
        ),
    ),
    invalid=(
        Case(
            "import torch\nfor x in loader:\n    loss = criterion(model(x))\n"
            "    loss.backward()\n    print(f'loss {loss:.4f}')\n",
            lines=(5,),
        ),
        Case(
            "import torch, logging\nlogger = logging.getLogger()\nfor x, y in loader:\n"
            "    out = torch.nn.functional.mse_loss(model(x), y)\n"
            "    logger.info('loss %s', out)\n",
            lines=(5,),
        ),
        Case(
            "import torch, wandb\nfor x in train_loader:\n    loss = model(x).loss\n"
            "    wandb.log({'loss': loss, 'lr': 0.1})\n",
            lines=(4,),
        ),
        Case(
            "import torch\nfor x in (bar := tqdm(loader)):\n    loss = model(x).loss\n"
            "    bar.set_postfix(loss=loss)\n",
            lines=(4,),
        ),
    ),
)


@RULE.module
def check(module: Module) -> Iterator[Hit]:
    """Find calls that show a tensor."""
    for call in _shows(module):
        shown = next((a for a in _shown(call) if tensors(module).may_be(a)), None)
        if shown is None or _is_read_before(call, shown, module):
            continue
        if runs_each_step(call, module):
            yield module.hit(
                call,
                f"showing the tensor `{module.code(shown)}` each step makes the host wait for the "
                "TPU",
                "show it every so many steps",
            )


def _is_read_before(call: ast.Call, shown: ast.expr, module: Module) -> bool:
    """Tell ``if norm > 50: warn(norm)``: the test has read the tensor, and the message is rare."""
    text = module.code(shown)
    child: ast.AST = call
    parent = module.parent(call)
    while parent is not None and not isinstance(parent, ast.FunctionDef):
        inside = isinstance(parent, ast.If) and child in parent.body
        if inside and any(module.code(n) == text for n in _compared(parent)):
            return True
        child, parent = parent, module.parent(parent)
    return False


def _compared(parent: ast.AST) -> list[ast.expr]:
    test = parent.test if isinstance(parent, ast.If) else None
    return [test.left, *test.comparators] if isinstance(test, ast.Compare) else []


def _shows(module: Module) -> Iterator[ast.Call]:
    for name in module.index.names.get("print", ()):
        parent = module.parent(name)
        if isinstance(parent, ast.Call) and parent.func is name:
            yield parent
    for word in (*_METHODS, "log"):
        for attribute in module.index.attributes.get(word, ()):
            parent = module.parent(attribute)
            holder = getattr(attribute.value, "attr", getattr(attribute.value, "id", ""))
            is_call = isinstance(parent, ast.Call) and parent.func is attribute
            if is_call and isinstance(parent, ast.Call) and _LOGGERS.search(holder.lower()):
                yield parent


def _shown(call: ast.Call) -> Iterator[ast.expr]:
    """Iterate over what a call is given, in f-strings and dicts too."""
    for value in [*call.args, *(keyword.value for keyword in call.keywords)]:
        yield from _parts(value)


def _parts(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.JoinedStr):
        yield from (part.value for part in value.values if isinstance(part, ast.FormattedValue))
    elif isinstance(value, ast.Dict):
        yield from value.values
    elif isinstance(value, ast.Tuple | ast.List):
        yield from value.elts
    elif isinstance(value, ast.Call) and getattr(value.func, "attr", "") == "format":
        yield from value.args
    elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mod):
        yield from _parts(value.right)
    else:
        yield value
