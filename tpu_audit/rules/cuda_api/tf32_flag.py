"""TPA216: precision of matrix products, set for CUDA's libraries."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api import symbol_text
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.table import cuda_symbols, names_of
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_PAGE = "https://docs.pytorch.org/docs/stable/generated/torch.set_float32_matmul_precision.html"
_MATMUL = "torch.backends.cuda.matmul.allow_tf32"

RULE = Rule(
    code="TPA216",
    name="tf32-flag",
    severity=Severity.WARNING,
    words=("allow_tf32", "fp32_precision", "matmul"),
    docs=Docs(
        what="Finds `allow_tf32` and `fp32_precision` set on `torch.backends.cuda.matmul` and "
        "`torch.backends.cudnn`, and the flags for reduced precision of cuBLAS.",
        why="They have no effect on a TPU, where float32 matrix products and convolutions run as "
        'one pass of bfloat16 by default: less precise than TF32. The names "high" and "highest" '
        "of `torch.set_float32_matmul_precision` mean three and six passes there.",
        example="torch.backends.cuda.matmul.allow_tf32 = False",
        instead='torch.set_float32_matmul_precision("highest")',
        fix_safety="Safe for `torch.backends.cuda.matmul.allow_tf32`: on CUDA the new call sets "
        "the same flag. The other settings are not rewritten.",
        references=(
            _PAGE,
            "https://docs.pytorch.org/docs/stable/notes/cuda.html",
        ),
    ),
    valid=(
        Case('import torch\ntorch.set_float32_matmul_precision("high")\n'),
        Case(
            "import torch\nif torch.cuda.is_available():\n"
            "    torch.backends.cuda.matmul.allow_tf32 = True\n"
        ),
        Case("import torch\nwas = torch.backends.cuda.matmul.allow_tf32\n"),
        Case("config.allow_tf32 = True\nmatmul.allow_tf32 = 1\n"),
        Case(
            "import torch\ntorch.backends.cuda.matmul.allow_tf32 = True\n"
            'torch.set_float32_matmul_precision("high")\n'
        ),
    ),
    invalid=(
        Case(
            "import torch\ntorch.backends.cuda.matmul.allow_tf32 = True\n"
            "torch.backends.cudnn.allow_tf32 = True\n",
            lines=(2,),
            fixed='import torch\ntorch.set_float32_matmul_precision("high")\n'
            "torch.backends.cudnn.allow_tf32 = True\n",
        ),
        Case(
            "import torch\nfrom torch import backends\nbackends.cuda.matmul.allow_tf32 = False\n",
            lines=(3,),
            fixed="import torch\nfrom torch import backends\n"
            'torch.set_float32_matmul_precision("highest")\n',
        ),
        Case(
            "import torch\ntorch.backends.cuda.matmul.allow_tf32 = args.tf32\n",
            lines=(2,),
            fixed="import torch\ntorch.set_float32_matmul_precision("
            '"high" if args.tf32 else "highest")\n',
        ),
        Case(
            "import torch\ntorch.backends.cudnn.allow_tf32 = False\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case('import torch\ntorch.backends.cuda.matmul.fp32_precision = "ieee"\n', lines=(2,)),
    ),
)


@RULE.use(*names_of("TPA216"))
def check(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find what sets, unless the file also sets the precision for every device."""
    if not isinstance(getattr(node, "ctx", None), ast.Store) or _is_set(module, name):
        return
    symbol = cuda_symbols()[name]
    precise = name.startswith("torch.backends.cuda.matmul.") and name.endswith("2_precision")
    yield module.hit(
        node,
        f"`{symbol.name}` has no effect on a TPU, where float32 products run as one pass of "
        "bfloat16"
        if symbol.has_effect
        else symbol_text.message(symbol, symbol.name),
        "call `torch.set_float32_matmul_precision`"
        if symbol.has_effect
        else symbol_text.advice(symbol),
        fix=_fix(node, module) if name == _MATMUL else None,
        severity=None if precise or name == _MATMUL else Severity.INFO,
    )


def _is_set(module: Module, name: str) -> bool:
    """Tell whether what is set for a part is set for the whole elsewhere in the file."""
    if any(True for _ in module.uses.called("torch.set_float32_matmul_precision")):
        return True
    return name != _MATMUL and any(
        isinstance(getattr(node, "ctx", None), ast.Store) for node in module.uses.named(_MATMUL)
    )


def _fix(node: ast.expr, module: Module) -> Fix | None:
    statement = module.parent(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    value = statement.value
    chosen = '"high" if {} else "highest"'
    if isinstance(value, ast.Constant):
        chosen = '"high"' if value.value else '"highest"'
    elif isinstance(value, ast.Name | ast.Attribute | ast.Call | ast.Compare | ast.Subscript):
        chosen = chosen.format(module.code(value))
    else:
        return None
    text = f"{repair.torch_name(module)}.set_float32_matmul_precision({chosen})"
    return repair.fix(module, Applicability.SAFE, module.edit(statement, text))
