"""TPA219: autograd functions decorated for CUDA's autocast."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability, Fix
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.table import names_of
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_DEVICE_TYPE = 'device_type=str(torch.accelerator.current_accelerator() or torch.device("cpu"))'

RULE = Rule(
    code="TPA219",
    name="cuda-amp-custom-function",
    severity=Severity.WARNING,
    words=("custom_fwd", "custom_bwd"),
    docs=Docs(
        what="Finds `torch.cuda.amp.custom_fwd` and `custom_bwd`, and their newer forms with "
        '`device_type="cuda"`.',
        why="They read and switch CUDA's autocast alone. Under `torch.autocast` for a TPU the "
        "inputs are not cast, and autocast stays on inside.",
        example="class Scale(torch.autograd.Function):\n    @staticmethod\n"
        "    @torch.cuda.amp.custom_fwd\n    def forward(ctx, x): ...",
        instead="class Scale(torch.autograd.Function):\n    @staticmethod\n"
        "    @torch.amp.custom_fwd(\n        device_type=str(\n"
        '            torch.accelerator.current_accelerator() or torch.device("cpu")))\n'
        "    def forward(ctx, x): ...",
        fix_safety="Safe: on CUDA the device is CUDA's, as before.",
        references=("https://docs.pytorch.org/docs/stable/amp.html",),
    ),
    valid=(
        Case("import torch\n@torch.amp.custom_fwd(device_type=kind)\ndef forward(ctx, x): ...\n"),
        Case("def custom_fwd(f):\n    return f\n@custom_fwd\ndef forward(ctx, x): ...\n"),
        Case("from .amp import custom_fwd, custom_bwd\n@custom_fwd\ndef forward(c, x): ...\n"),
    ),
    invalid=(
        Case(
            "import torch\nclass F(torch.autograd.Function):\n    @staticmethod\n"
            "    @torch.cuda.amp.custom_fwd\n    def forward(ctx, x):\n        return x\n",
            lines=(4,),
            fixed="import torch\nclass F(torch.autograd.Function):\n    @staticmethod\n"
            f"    @torch.amp.custom_fwd({_DEVICE_TYPE})\n    def forward(ctx, x):\n"
            "        return x\n",
        ),
        Case(
            "import torch\nfrom torch.cuda.amp import custom_bwd, custom_fwd\n"
            "@custom_fwd(cast_inputs=torch.float16)\ndef forward(ctx, x): ...\n"
            "@custom_bwd\ndef backward(ctx, g): ...\n",
            lines=(3, 5),
            fixed="import torch\nfrom torch.cuda.amp import custom_bwd, custom_fwd\n"
            f"@torch.amp.custom_fwd({_DEVICE_TYPE}, cast_inputs=torch.float16)\n"
            "def forward(ctx, x): ...\n"
            f"@torch.amp.custom_bwd({_DEVICE_TYPE})\ndef backward(ctx, g): ...\n",
        ),
        Case(
            'import torch\n@torch.amp.custom_bwd(device_type="cuda")\ndef backward(ctx, g): ...\n',
            lines=(2,),
            fixed=f"import torch\n@torch.amp.custom_bwd({_DEVICE_TYPE})\n"
            "def backward(ctx, g): ...\n",
        ),
        Case(
            "import functools\nimport torch\n"
            'fwd = functools.partial(torch.amp.custom_fwd, device_type="cuda")\n',
            lines=(3,),
        ),
    ),
)


@RULE.use(*names_of("TPA219"))
def check(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find uses of the forms for CUDA."""
    yield module.hit(
        node,
        f"`{name}` reads CUDA's autocast alone, which is off on a TPU",
        f"write `torch.amp.{name.rpartition('.')[2]}` with a `device_type`",
        fix=_fix(node, name, module),
    )


@RULE.use("torch.amp.custom_fwd", "torch.amp.custom_bwd")
def check_device(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find the forms for any device where they name CUDA."""
    call = module.parent(node)
    given = keyword(call, "device_type") if isinstance(call, ast.Call) else None
    if given is None or module.value(given).strings() != ("cuda",):
        return
    direct = isinstance(given, ast.Constant) and isinstance(call, ast.Call) and call.func is node
    text = repair.device_string(module)
    edit = module.edit(given, text)
    yield module.hit(
        node,
        f"`{name}` for the device cuda reads CUDA's autocast alone, which is off on a TPU",
        "give it the accelerator's type as `device_type`",
        fix=repair.fix(module, Applicability.SAFE, edit) if direct else None,
    )


def _fix(node: ast.expr, name: str, module: Module) -> Fix | None:
    """Write the form for any device over a decorator, with or without arguments."""
    new = f"{repair.torch_name(module)}.amp.{name.rpartition('.')[2]}"
    given = f"device_type={repair.device_string(module)}"
    parent = module.parent(node)
    if isinstance(parent, ast.FunctionDef) and node in parent.decorator_list:
        return repair.fix(module, Applicability.SAFE, module.edit(node, f"{new}({given})"))
    if isinstance(parent, ast.Call) and parent.func is node and not parent.args:
        rest = [module.code(argument) for argument in parent.keywords]
        text = f"{new}({', '.join([given, *rest])})"
        return repair.fix(module, Applicability.SAFE, module.edit(parent, text))
    return None
