"""TPA509: what breaks compiled graphs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.compiling.compiled import compiled_functions
from tpu_audit.rules.python.walk import children
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_DEBUGGERS = ("pdb.set_trace", "ipdb.set_trace", "breakpoint", "torch._dynamo.graph_break")
_BREAKS = (*_DEBUGGERS, "print", "time.time", "time.perf_counter", "logging.info", "logging.debug")
_LOG = frozenset({"info", "debug", "warning", "error"})
_BRANCHES = (ast.If, ast.IfExp, ast.ExceptHandler, ast.match_case)

RULE = Rule(
    code="TPA509",
    name="graph-break",
    severity=Severity.WARNING,
    words=("print", "set_trace", "breakpoint", "graph_break", "logging", "logger", "time"),
    in_tests=None,
    docs=Docs(
        what="Finds printing, logging, clocks and debuggers that run in every `forward` of a "
        "module or call of a compiled function.",
        why="They end the graph that is being traced: the TPU gets several small programs in "
        "place of one, and the tensors between them go through memory.",
        example='def forward(self, x):\n    print("shape", x.shape)\n    return self.net(x)',
        instead="def forward(self, x):\n    return self.net(x)",
        references=("https://docs.pytorch.org/docs/stable/torch.compiler_troubleshooting.html",),
    ),
    valid=(
        Case("import torch\ndef main():\n    print('start')\n"),
        Case(
            "import torch.nn as nn\nclass N(nn.Module):\n    def forward(self, x):\n"
            "        if self.verbose:\n            print(x.shape)\n        return x\n"
        ),
        Case("class Report:\n    def forward(self, text):\n        print(text)\n"),
        Case(
            "import torch.nn as nn\nimport logging\nlogger = logging.getLogger()\n"
            "class N(nn.Module):\n    def __init__(self):\n        logger.info('new')\n"
        ),
    ),
    invalid=(
        Case(
            "import torch.nn as nn\nclass N(nn.Module):\n    def forward(self, x):\n"
            "        print(x.shape)\n        return self.f(x)\n",
            lines=(4,),
        ),
        Case(
            "import torch\nimport pdb\n@torch.compile\ndef f(x):\n    pdb.set_trace()\n"
            "    return x\n",
            lines=(5,),
        ),
        Case(
            "import logging\nimport torch\nlog = logging.getLogger(__name__)\n"
            "class Net(torch.nn.Module):\n    def forward(self, x):\n"
            '        log.info("in %s", x.shape)\n        return x\n',
            lines=(6,),
        ),
        Case(
            "import time\nimport torch\ndef f(x):\n    t = time.time()\n    return x * 2, t\n"
            "g = torch.compile(f)\n",
            lines=(4,),
        ),
    ),
)


@RULE.module
def check(module: Module) -> Iterator[Hit]:
    """Find the calls in what is compiled, or a module's ``forward``."""
    for function in {*compiled_functions(module), *_forwards(module)}:
        for node in _always(function):
            if isinstance(node, ast.Call) and _breaks(node, module):
                yield module.hit(
                    node,
                    f"`{module.code(node.func)}` splits the compiled graph each time",
                    "take it out of the model's code",
                )


def _forwards(module: Module) -> Iterator[ast.FunctionDef]:
    for function in module.index.of(ast.FunctionDef):
        owner = module.parent(function)
        bases = owner.bases if isinstance(owner, ast.ClassDef) else []
        is_module = any(module.is_named(base, "torch.nn.Module") for base in bases)
        if function.name == "forward" and is_module:
            yield function


def _always(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """Iterate over what runs in every call: nothing under a condition, no inner functions."""
    stack: list[ast.AST] = [*function.body]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (*_BRANCHES, ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            stack += children(node)


def _breaks(call: ast.Call, module: Module) -> bool:
    if module.is_named(call.func, *_BREAKS):
        return True
    callee = call.func
    if not isinstance(callee, ast.Attribute) or callee.attr not in _LOG:
        return False
    made = _makers(callee.value, module)
    return any(
        isinstance(m, ast.Call) and getattr(m.func, "attr", "") in {"getLogger", "get_logger"}
        for m in made
    )


def _makers(node: ast.expr, module: Module) -> list[ast.expr | None]:
    if not isinstance(node, ast.Name):
        return []
    return [binding.value for binding in module.scopes.bindings(node)]
