"""TPA501: modes of torch.compile."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.compiling.compiled import REFERENCE, argument, compile_calls
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.arguments import without
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_MODES = frozenset({"reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"})
_ELSEWHERE = frozenset({"torch_compile_mode"})
"""Arguments that another rule looks at."""

RULE = Rule(
    code="TPA501",
    name="compile-mode",
    severity=Severity.ERROR,
    words=("overhead", "autotune"),
    docs=Docs(
        what="Finds `torch.compile` with a mode other than the default. A warning where a setting "
        "is named like a compile mode and what takes it is not known.",
        why="The TPU backend knows no modes: the first call of the compiled function raises "
        "`TypeError: Unexpected keyword arguments`. CUDA graphs and autotuning are not there.",
        example='model = torch.compile(model, mode="reduce-overhead")',
        instead="model = torch.compile(model)",
        fix_safety="Safe: the mode changes speed, not results; on CUDA the compiled code may run "
        "slower.",
        references=(REFERENCE,),
    ),
    valid=(
        Case('import torch\nm = torch.compile(m, mode="default")  # not reduce-overhead\n'),
        Case('import torch\n# torch.compile(m, mode="max-autotune")\nm = load("autotune")\n'),
        Case('MODES = ["default", "reduce-overhead", "max-autotune"]\n'),
        Case(
            "import torch\nif torch.cuda.is_available():\n"
            '    m = torch.compile(m, mode="reduce-overhead")\n'
        ),
    ),
    invalid=(
        Case(
            'import torch\nm = torch.compile(m, mode="reduce-overhead", fullgraph=True)\n',
            lines=(2,),
            columns=(27,),
            fixed="import torch\nm = torch.compile(m, fullgraph=True)\n",
        ),
        Case(
            'import torch as th\n@th.compile(mode="max-autotune")\ndef f(x):\n    return x\n',
            lines=(2,),
            fixed="import torch as th\n@th.compile()\ndef f(x):\n    return x\n",
        ),
        Case(
            'import torch\nkw = dict(mode="max-autotune", fullgraph=False)\n'
            "f = torch.compile(g, **kw)\n",
            lines=(2,),
        ),
        Case(
            'net.compile(dynamic=False, mode="reduce-overhead")\n',
            lines=(1,),
            fixed="net.compile(dynamic=False)\n",
        ),
        Case(
            "class Config:\n    compile_mode: str = 'max-autotune'\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "compile:\n  mode: max-autotune\neval_compile_mode: reduce-overhead\n",
            filename="conf.yaml",
            lines=(2, 3),
            severity=Severity.WARNING,
        ),
        Case(
            'run = Settings(compile=True, eval_compile_mode="reduce-overhead")\n',
            lines=(1,),
            severity=Severity.WARNING,
        ),
    ),
)


@RULE.module
def calls(module: Module) -> Iterator[Hit]:
    """Find modes given to torch.compile, in the call or by variables and options."""
    for call in compile_calls(module):
        for value, inside in argument(call, "mode", module):
            for possible in module.value(value):
                if possible.value in _MODES and not module.reach(call).dead:
                    here = inside and possible.node is value
                    fix = _fix(call, module) if here else None
                    yield _hit(possible.node, Severity.ERROR, fix, module)


@RULE.document("yaml", "json", "toml")
def check_document(document: Document) -> Iterator[Hit]:
    """Find modes in configs, under keys named like a compile mode."""
    for entry in document.entries:
        key = str(entry.key).lower()
        nested = key == "mode" and "compile" in str(entry.keys[-2:-1]).lower()
        named = key.endswith("compile_mode") and key not in _ELSEWHERE
        if (named or nested) and entry.text() in _MODES:
            yield document.hit(
                entry.span,
                f"the compile mode `{entry.value}` raises `TypeError` at the first call on a TPU",
                "leave it out",
                severity=Severity.WARNING,
            )


@RULE.string(*_MODES)
def settings(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find modes in arguments, attributes and fields named like a compile mode."""
    if constant.value not in _MODES:
        return
    words = {word.lower() for word in _words(module.parent(constant), constant)}
    if any(word.endswith("compile_mode") for word in words) and not words & _ELSEWHERE:
        yield _hit(constant, Severity.WARNING, None, module)


def _words(holder: ast.AST | None, constant: ast.Constant) -> Iterator[str]:
    """Iterate over the names that a constant is given."""
    if isinstance(holder, ast.keyword):
        yield holder.arg or ""
    elif isinstance(holder, ast.Assign | ast.AnnAssign):
        targets = holder.targets if isinstance(holder, ast.Assign) else [holder.target]
        yield from (str(getattr(t, "attr", getattr(t, "id", ""))) for t in targets)
    elif isinstance(holder, ast.Dict) and constant in holder.values:
        key = holder.keys[holder.values.index(constant)]
        yield str(getattr(key, "value", ""))


def _fix(call: ast.Call, module: Module) -> Fix | None:
    edit = without(call, "mode", module)
    return None if edit is None else repair.fix(module, Applicability.SAFE, edit)


def _hit(node: ast.expr, severity: Severity, fix: Fix | None, module: Module) -> Hit:
    return module.hit(
        node,
        f"the compile mode {module.code(node)} raises `TypeError` at the first call on a TPU",
        "leave `mode` out",
        fix=fix,
        severity=severity,
    )
