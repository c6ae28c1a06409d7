"""TPA204: names that ``torch.tpu`` does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api.guarding import replace_call
from tpu_audit.rules.cuda_api.roles import call_of, is_probed
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.table import cuda_symbols, tpu_names
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_OTHER_RULES = frozenset({"set_device"})
"""Chooses a device: another rule's."""

RULE = Rule(
    code="TPA204",
    name="torch-tpu-name",
    severity=Severity.ERROR,
    words=("tpu",),
    docs=Docs(
        what="Finds names of `torch.tpu` that do not exist, or that TorchTPU keeps to itself.",
        why="`torch.tpu` is not `torch.cuda` under another name: `torch.tpu.empty_cache` and the "
        "memory functions do not exist, and `is_available`, `device_count`, `synchronize` and "
        'their like raise "internal to TorchTPU" when code outside PyTorch calls them.',
        example="torch.tpu.synchronize()\ntorch.tpu.empty_cache()",
        instead="torch.accelerator.synchronize()\ntorch.accelerator.empty_cache()",
        fix_safety="Safe for a statement of its own, which is put under "
        "`if torch.accelerator.is_available():`. Unsafe elsewhere.",
        references=(
            "https://docs.pytorch.org/docs/stable/accelerator.html",
            "https://pypi.org/project/torch-tpu/",
        ),
    ),
    valid=(
        Case("import torch\ntorch.tpu.manual_seed_all(0)\ntorch.accelerator.synchronize()\n"),
        Case("import torch\nfrom torch.tpu import distributed\ntorch.tpu.pallas.jax_op(f)\n"),
        Case('import torch\nif hasattr(torch.tpu, "empty_cache"):\n    torch.tpu.empty_cache()\n'),
        Case("import jax\njax.tpu.empty_cache()\n"),
        Case("import torch\nprint(torch.tpu._get_cache_stats())\n"),
    ),
    invalid=(
        Case(
            "import torch\ntorch.tpu.synchronize()\n",
            lines=(2,),
            fixed="import torch\nif torch.accelerator.is_available():\n"
            "    torch.accelerator.synchronize()\n",
        ),
        Case(
            "import torch\nif torch.tpu.is_available():\n    start()\n",
            lines=(2,),
            fixed="import torch\nif torch.accelerator.is_available():\n    start()\n",
        ),
        Case("from torch import tpu\nused = tpu.memory_allocated()\n", lines=(2,)),
        Case("import torch\ncap = torch.tpu.get_device_capability()\n", lines=(2,)),
    ),
)


@RULE.use("torch.tpu.*")
def check(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find the names, private ones and what lies below a submodule excepted."""
    known = tpu_names()
    word = name.removeprefix("torch.tpu.").partition(".")[0]
    if word.startswith("_") or word in _OTHER_RULES or is_probed(node, word, module):
        return
    if word in known and not known[word].internal:
        return
    replacement = known[word].replacement if word in known else _of_cuda(word)
    effect = "is internal to TorchTPU and raises when called" if word in known else "does not exist"
    yield module.hit(
        node,
        f"`torch.tpu.{word}` {effect}",
        f"write `{replacement}`" if replacement else "leave it out",
        fix=_fix(node, name, replacement, module),
    )


def _of_cuda(word: str) -> str | None:
    symbol = cuda_symbols().get(f"torch.cuda.{word}")
    return symbol.replacement if symbol is not None else None


def _fix(node: ast.expr, name: str, replacement: str | None, module: Module) -> Fix | None:
    if replacement is None or name.count(".") > 2:  # noqa: PLR2004 # torch.tpu.NAME
        return None
    new = repair.torch_name(module) + replacement.removeprefix("torch")
    call = call_of(node, module)
    if call is None or new.endswith(".is_available") or call.args or call.keywords:
        return repair.fix(module, Applicability.UNSAFE, module.edit(node, new))
    return replace_call(call, f"{new}()", module)
