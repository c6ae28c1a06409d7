"""TPA205: random state of CUDA alone."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api import symbol_text
from tpu_audit.rules.cuda_api.roles import call_of, is_told
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.table import Symbol, cuda_symbols, names_of
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_NAMES = names_of("TPA205")
_SEEDS = frozenset({"torch.cuda.manual_seed", "torch.cuda.manual_seed_all"})

RULE = Rule(
    code="TPA205",
    name="cuda-seed",
    severity=Severity.WARNING,
    words=("cuda",),
    docs=Docs(
        what="Finds `torch.cuda.manual_seed`, `get_rng_state`, `set_rng_state` and their like. "
        "Beside a call of `torch.manual_seed` the seeds are noted only.",
        why="They know CUDA's generators alone: on a TPU the seeds and `set_rng_state` do nothing, "
        "without a message, and `get_rng_state` raises. `torch.manual_seed` seeds every device.",
        example="torch.cuda.manual_seed_all(0)",
        instead="torch.manual_seed(0)",
        fix_safety="Safe for seeds: `torch.manual_seed` seeds every device, and where it is called "
        "with the same seed already, the call is removed. Unsafe for states, which become those "
        "of the CPU's generator.",
        references=(
            "https://docs.pytorch.org/docs/stable/generated/torch.manual_seed.html",
            "https://docs.pytorch.org/docs/stable/notes/randomness.html",
        ),
    ),
    valid=(
        Case(
            "import torch\nif len(torch.cuda.default_generators) > 0:\n    use_gpu()\n"
            "else:\n    torch.manual_seed(seed)\n"
        ),
        Case("import torch\ntorch.manual_seed(0)\ntorch.get_rng_state()\n"),
        Case("import random, numpy as np\nrandom.seed(1)\nnp.random.seed(1)\n"),
        Case(
            "import torch\ntorch.manual_seed(s)\nif torch.cuda.is_available():\n"
            "    torch.cuda.manual_seed_all(s)\n"
        ),
        Case("import torch\ntorch.xpu.manual_seed_all(0)\n"),
        Case("import torch\nif torch.cuda.is_available():\n    torch.cuda.manual_seed(7)\n"),
    ),
    invalid=(
        Case(
            "import torch\ntorch.cuda.manual_seed_all(0)\n",
            lines=(2,),
            fixed="import torch\ntorch.manual_seed(0)\n",
        ),
        Case(
            "import torch\nfrom torch.cuda import manual_seed as seed_gpu\n"
            "def fix_seed(value):\n    seed_gpu(value)\n",
            lines=(4,),
            fixed="import torch\nfrom torch.cuda import manual_seed as seed_gpu\n"
            "def fix_seed(value):\n    torch.manual_seed(value)\n",
        ),
        Case(
            "import torch\ndef fix_seed(s):\n    torch.manual_seed(s)\n"
            "    torch.cuda.manual_seed(s)\n    torch.cuda.manual_seed_all(s)  # all\n",
            lines=(4, 5),
            severity=Severity.INFO,
            fixed="import torch\ndef fix_seed(s):\n    torch.manual_seed(s)\n",
        ),
        Case(
            "import torch\nstate = {'cuda': torch.cuda.get_rng_state()}\n",
            lines=(2,),
            fixed="import torch\nstate = {'cuda': torch.get_rng_state()}\n",
        ),
        Case("import torch\ntorch.cuda.random.set_rng_state_all(states)\n", lines=(2,)),
    ),
)


@RULE.use(*_NAMES)
def check(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find uses; a guarded seed beside ``torch.manual_seed`` is right as it stands."""
    symbol = cuda_symbols()[name]
    if _is_counted(node, module):
        return
    also = _also_seeds(node, module) if name in _SEEDS else []
    if also and module.reach(node).dead:
        return
    yield module.hit(
        node,
        symbol_text.message(symbol, symbol.name),
        "`torch.manual_seed` seeds every device" if also else symbol_text.advice(symbol),
        fix=_fix(node, symbol, also, module),
        severity=Severity.INFO if also or is_told(node, module) else None,
    )


def _is_counted(node: ast.expr, module: Module) -> bool:
    """Tell ``len(torch.cuda.default_generators) > 0``, whose answer is right on a TPU."""
    call = module.parent(node)
    counts = isinstance(call, ast.Call) and getattr(call.func, "id", "") == "len"
    test = module.parent(call) if counts and call is not None else None
    return isinstance(test, ast.Compare) and module.truth(test) is not None


def _also_seeds(node: ast.expr, module: Module) -> list[ast.Call]:
    """Return the calls of ``torch.manual_seed`` in the same function."""
    function = module.context(node).function
    return [
        call
        for call in module.uses.called("torch.manual_seed")
        if module.context(call).function is function
    ]


def _fix(node: ast.expr, symbol: Symbol, also: list[ast.Call], module: Module) -> Fix | None:
    call = call_of(node, module)
    if call is None or symbol.replacement is None or module.reach(node).dead:
        return None
    statement = module.parent(call)
    if also:
        same = any(_arguments(other, module) == _arguments(call, module) for other in also)
        if same and isinstance(statement, ast.Expr):
            return repair.delete(module, statement, Applicability.SAFE)
        return None
    new = repair.torch_name(module) + symbol.replacement.removeprefix("torch")
    kept = _kept(symbol, call, module)
    level = Applicability.SAFE if symbol.name in _SEEDS else Applicability.UNSAFE
    return repair.fix(module, level, module.edit(call, f"{new}({kept})"))


def _kept(symbol: Symbol, call: ast.Call, module: Module) -> str:
    """Return the arguments without a device."""
    if symbol.name.endswith(("get_rng_state", "initial_seed", ".seed", "seed_all")) and (
        symbol.name not in _SEEDS
    ):
        return ""
    return ", ".join(_arguments(call, module)[:1])


def _arguments(call: ast.Call, module: Module) -> list[str]:
    keywords = [module.code(k.value) for k in call.keywords if k.arg in {"seed", "new_state"}]
    return [module.code(argument) for argument in call.args] + keywords
