"""TPA706: optimizers of a trainer that need CUDA libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.huggingface import roles
from tpu_audit.rules.huggingface.trainers import TRAINER
from tpu_audit.rules.python import repair
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_BNB = "needs bitsandbytes, which has no kernels for TPUs"
_OPTIMIZERS = {
    "adamw_bnb_8bit": (_BNB, "adamw_torch"),
    "adamw_8bit": (_BNB, "adamw_torch"),
    "paged_adamw_32bit": (_BNB, "adamw_torch"),
    "paged_adamw_8bit": (_BNB, "adamw_torch"),
    "paged_adamw": (_BNB, "adamw_torch"),
    "adamw_apex_fused": ("needs Apex, which is a CUDA extension", "adamw_torch"),
    "galore_adamw_8bit": (_BNB, "galore_adamw"),
    "galore_adamw_8bit_layerwise": (_BNB, "galore_adamw_layerwise"),
    "rmsprop_bnb": (_BNB, "rmsprop"),
    "rmsprop_bnb_8bit": (_BNB, "rmsprop"),
    "rmsprop_bnb_32bit": (_BNB, "rmsprop"),
    "lion_8bit": (_BNB, ""),
    "lion_32bit": (_BNB, ""),
    "paged_lion_8bit": (_BNB, ""),
    "paged_lion_32bit": (_BNB, ""),
    "ademamix": (_BNB, ""),
    "ademamix_8bit": (_BNB, ""),
    "paged_ademamix_8bit": (_BNB, ""),
    "paged_ademamix_32bit": (_BNB, ""),
}
_ROLES = frozenset({"optim", "optimizer", "optim_type", "optimizer_name", "optimizer_type", "opt"})

RULE = Rule(
    code="TPA706",
    name="cuda-optimizer",
    severity=Severity.ERROR,
    words=(*_OPTIMIZERS, "OptimizerNames"),
    docs=Docs(
        what="Finds optimizers of transformers' trainer that come from bitsandbytes or Apex: "
        "`adamw_bnb_8bit`, `paged_adamw_8bit`, `adamw_apex_fused` and their like.",
        why="bitsandbytes and Apex have no kernels for TPUs: making the optimizer, or its first "
        "step, raises.",
        example='args = TrainingArguments("out", optim="paged_adamw_8bit")',
        instead='args = TrainingArguments("out", optim="adamw_torch")',
        fix_safety="Safe for Apex's fused AdamW, which computes the same. Unsafe for the others: "
        "their states take four times the memory in 32 bits.",
        references=(TRAINER,),
    ),
    valid=(
        Case('args = TrainingArguments("o", optim="adamw_torch_fused")\n'),
        Case('if args.optim == "paged_adamw_8bit":\n    check()\n'),
        Case('NAMES = ("adamw_torch", "adamw_bnb_8bit")\n'),
        Case('class Names(Enum):\n    ADAMW_BNB = "adamw_bnb_8bit"\n'),
        Case("optim: adamw_torch  # not paged_adamw_8bit\n", filename="train.yaml"),
        Case(
            "import torch\nargs = TrainingArguments('o', optim='adamw_bnb_8bit' "
            "if torch.cuda.is_available() else 'adamw_torch')\n"
        ),
    ),
    invalid=(
        Case(
            'args = TrainingArguments("o", optim="paged_adamw_8bit")\n',
            lines=(1,),
            columns=(37,),
            severity=Severity.ERROR,
            fixed='args = TrainingArguments("o", optim="adamw_torch")\n',
        ),
        Case(
            "opt = 'adamw_bnb_8bit' if bits == 8 else 'adamw_torch'\n"
            "args = SFTConfig(output_dir='o', optim=opt)\n",
            lines=(1,),
            fixed="opt = 'adamw_torch' if bits == 8 else 'adamw_torch'\n"
            "args = SFTConfig(output_dir='o', optim=opt)\n",
        ),
        Case(
            "from dataclasses import dataclass, field\n@dataclass\nclass A:\n"
            "    optim: str = field(default='adamw_apex_fused')\n",
            lines=(4,),
            severity=Severity.WARNING,
            fixed="from dataclasses import dataclass, field\n@dataclass\nclass A:\n"
            "    optim: str = field(default='adamw_torch')\n",
        ),
        Case(
            "from transformers.training_args import OptimizerNames\n"
            "args = TrainingArguments('o', optim=OptimizerNames.ADAMW_BNB)\n",
            lines=(2,),
        ),
        Case("optimizer: lion_8bit\nlearning_rate: 1e-4\n", filename="axolotl.yml", lines=(1,)),
        Case("python train.py --optim paged_adamw_32bit\n", filename="run.sh", lines=(1,)),
    ),
)


@RULE.string("adam", "lion_", "rmsprop", "ademamix")
def check(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find names of optimizers given to a trainer."""
    found = _OPTIMIZERS.get(str(constant.value))
    if found is None or roles.role(module, constant) not in _ROLES:
        return
    need, new = found
    name = str(constant.value)
    fix = None
    if new:
        level = Applicability.SAFE if "apex" in name else Applicability.UNSAFE
        fix = repair.fix(module, level, roles.text_edit(module, constant, new))
    yield module.hit(
        constant,
        f"the optimizer `{name}` {need}: on a TPU it raises",
        _advice(new),
        fix=fix,
        severity=Severity.WARNING if roles.is_default(constant, module) else None,
        cause=need,
    )


@RULE.use("transformers.training_args.OptimizerNames.*", "transformers.OptimizerNames.*")
def check_name(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find members of ``OptimizerNames`` given to a trainer."""
    member = name.rpartition(".")[2]
    foreign = any(mark in member for mark in ("BNB", "8BIT", "PAGED", "APEX"))
    if foreign and roles.role(module, node) in _ROLES:
        yield module.hit(node, f"`{member}` {_BNB}: on a TPU it raises", _advice("adamw_torch"))


@RULE.document("json", "yaml", "toml", "ini")
def check_document(document: Document) -> Iterator[Hit]:
    """Find names of optimizers in configs."""
    for entry in document.entries:
        found = _OPTIMIZERS.get(entry.text()) if entry.key in _ROLES else None
        if found is not None:
            yield document.hit(
                entry.span,
                f"the optimizer `{entry.value}` {found[0]}: on a TPU it raises",
                _advice(found[1]),
                cause=found[0],
            )


@RULE.document("shell", "dockerfile", "makefile")
def check_command(document: Document) -> Iterator[Hit]:
    """Find ``--optim`` of training commands."""
    for command in document.commands:
        word = command.option("--optim", "--optimizer")
        found = _OPTIMIZERS.get(word.text) if word is not None else None
        if word is not None and found is not None:
            yield document.hit(
                word.span,
                f"the optimizer `{word.text}` {found[0]}: on a TPU it raises",
                _advice(found[1]),
                cause=found[0],
            )


def _advice(new: str) -> str:
    return f'write `optim="{new or "adamw_torch"}"`'
