"""TPA506: inference_mode beside torch.compile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.compiling.compiled import compile_calls
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.rule import Case, Docs, Rule, Stability
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

RULE = Rule(
    code="TPA506",
    name="inference-mode-with-compile",
    severity=Severity.INFO,
    stability=Stability.PREVIEW,
    words=("inference_mode",),
    docs=Docs(
        what="Finds `torch.inference_mode` in files that compile.",
        why="TorchTPU's documentation names the two together as a cause of errors; its tests use "
        "them together. Look here first if compiling fails.",
        example="model = torch.compile(model)\nwith torch.inference_mode():\n    model(x)",
        instead="model = torch.compile(model)\nwith torch.no_grad():\n    model(x)",
        fix_safety="Unsafe: `no_grad` keeps the bookkeeping that `inference_mode` drops, which is "
        "a little slower.",
        references=("https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html",),
    ),
    valid=(
        Case("import torch\nwith torch.inference_mode():\n    model(x)\n"),
        Case("import torch\nm = torch.compile(m)\nwith torch.no_grad():\n    m(x)\n"),
        Case("import torch\nm = torch.compile(m)\nwith torch.inference_mode(False):\n    m(x)\n"),
    ),
    invalid=(
        Case(
            "import torch\nm = torch.compile(m)\nwith torch.inference_mode():\n    m(x)\n",
            lines=(3,),
            fixed="import torch\nm = torch.compile(m)\nwith torch.no_grad():\n    m(x)\n",
        ),
        Case(
            "import torch as t\nm = t.compile(m)\n@t.inference_mode()\ndef run(x):\n"
            "    return m(x)\n",
            lines=(3,),
            fixed="import torch as t\nm = t.compile(m)\n@t.no_grad()\ndef run(x):\n"
            "    return m(x)\n",
        ),
        Case(
            "from torch import inference_mode, compile\nimport torch\nf = compile(g)\n"
            "with inference_mode():\n    f(x)\n",
            lines=(4,),
        ),
    ),
)


@RULE.call("torch.inference_mode")
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find calls that switch the mode on."""
    if call.args or call.keywords or next(compile_calls(module), None) is None:
        return
    edit = module.edit(call.func, f"{repair.torch_name(module)}.no_grad")
    yield module.hit(
        call,
        f"`{name}` with a compiled model is documented to fail on a TPU",
        "use `torch.no_grad` if compiling fails",
        fix=repair.fix(module, Applicability.UNSAFE, edit),
    )
