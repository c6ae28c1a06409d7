"""TPA705: training in float16, and TF32, by settings of a trainer."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.huggingface import roles
from tpu_audit.rules.huggingface.trainers import ACCELERATE, TRAINER, flag
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.options import keyword as argument
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_NAMES = {
    "fp16": (
        "bf16",
        "`fp16` brings a gradient scaler, whose ops a TPU does not have: the first step raises",
        Severity.ERROR,
    ),
    "fp16_full_eval": (
        "bf16_full_eval",
        "`fp16_full_eval` evaluates in float16, computed as bfloat16 in a narrower range",
        Severity.WARNING,
    ),
    "tf32": ("", "`tf32` needs an NVIDIA GPU: on a TPU the arguments raise", Severity.ERROR),
}
_MIXED = "`fp16` brings a gradient scaler, whose ops a TPU does not have: the first step raises"
_ADVICE = 'write `bf16=True` (accelerate: `mixed_precision="bf16"`)'
_ADVICE_TF32 = 'leave it out; `torch.set_float32_matmul_precision("high")` sets the precision'
_WISHED = re.compile(r"fp16|half|float16|precision", re.IGNORECASE)
_FLAVOURS = ("training-arguments", "accelerate", "hydra")

RULE = Rule(
    code="TPA705",
    name="float16-training",
    severity=Severity.ERROR,
    words=(*_NAMES, "mixed_precision", "half_precision_backend"),
    docs=Docs(
        what="Finds `fp16`, `fp16_full_eval`, `tf32` and `half_precision_backend` of "
        '`TrainingArguments` and its like, and `mixed_precision="fp16"` of accelerate, in code, '
        "configs and commands.",
        why="Training in float16 needs a gradient scaler, and the ops of the scaler have no kernel "
        "for TPUs. bfloat16 needs none. `tf32=True` raises where there is no NVIDIA GPU.",
        example='args = TrainingArguments("out", fp16=True)',
        instead='args = TrainingArguments("out", bf16=True)',
        fix_safety="Unsafe: bfloat16 changes the rounding on CUDA, and GPUs before Ampere lack it.",
        references=(TRAINER, ACCELERATE),
    ),
    valid=(
        Case('args = TrainingArguments("out", bf16=True, fp16=False)\n'),
        Case("import torch\nargs = TrainingArguments('o', fp16=torch.cuda.is_available())\n"),
        Case("args = TrainingArguments('o', fp16=(device == 'cuda'))\n"),
        Case("from accelerate import Accelerator\na = Accelerator(mixed_precision='bf16')\n"),
        Case("def cast(x, fp16=False):\n    return x.half() if fp16 else x\n"),
        Case("per_device_train_batch_size: 8\nlogging_steps: 1\nfp16: false\n", filename="a.yaml"),
        Case("p.add_argument('--mixed_precision', choices=['no', 'fp16', 'bf16'])\n"),
    ),
    invalid=(
        Case("a = Accelerator(mixed_precision='fp8')\n", lines=(1,)),
        Case("torchrun t.py --tf32 True\n", filename="run.sh", lines=(1,)),
        Case(
            'settings = {"mixed_precision": "fp16", "logger": "none"}\n',
            lines=(1,),
            severity=Severity.WARNING,
        ),
        Case(
            'args = TrainingArguments("out", fp16=True)\n',
            lines=(1,),
            columns=(33,),
            severity=Severity.ERROR,
            fixed='args = TrainingArguments("out", bf16=True)\n',
        ),
        Case(
            "import trl\nargs = trl.SFTConfig(\n    output_dir='o',\n    fp16=True,\n"
            "    bf16=False,\n)\n",
            lines=(4,),
            fixed="import trl\nargs = trl.SFTConfig(\n    output_dir='o',\n    fp16=False,\n"
            "    bf16=True,\n)\n",
        ),
        Case(
            "import torch\nnew = torch.cuda.is_bf16_supported()\n"
            "args = TrainingArguments('o', fp16=not new)\n",
            lines=(3,),
        ),
        Case(
            "config = {'output_dir': 'o', 'fp16': True}\nargs = TrainingArguments(**config)\n",
            lines=(1,),
        ),
        Case("args = TrainingArguments('o', tf32=True)\n", lines=(1,), severity=Severity.ERROR),
        Case("args = TrainingArguments('o', half_precision_backend='apex')\n", lines=(1,)),
        Case(
            "from accelerate import Accelerator\n"
            "a = Accelerator(mixed_precision='fp16', cpu=False)\n",
            lines=(2,),
            fixed="from accelerate import Accelerator\n"
            "a = Accelerator(mixed_precision='bf16', cpu=False)\n",
        ),
        Case(
            "compute_environment: LOCAL_MACHINE\ndistributed_type: 'NO'\nmixed_precision: fp16\n",
            filename="default_config.yaml",
            lines=(3,),
            fixed="compute_environment: LOCAL_MACHINE\ndistributed_type: 'NO'\n"
            "mixed_precision: bf16\n",
        ),
        Case(
            '{"per_device_train_batch_size": 8, "logging_steps": 1,\n "fp16": true}\n',
            filename="train.json",
            lines=(2,),
            fixed='{"per_device_train_batch_size": 8, "logging_steps": 1,\n "bf16": true}\n',
        ),
        Case(
            "accelerate launch --mixed_precision=fp16 train.py\n"
            "torchrun train.py --fp16 --output_dir o\n",
            filename="run.sh",
            lines=(1, 2),
        ),
    ),
)


@RULE.module
def check(module: Module) -> Iterator[Hit]:
    """Find the switches, as arguments and as entries of dicts of arguments."""
    for name, (_, effect, severity) in _NAMES.items():
        for place, value, keyword in roles.enabled(module, name):
            if not _is_trainers(module, place, keyword):
                continue
            yield module.hit(
                keyword or place,
                effect,
                _ADVICE_TF32 if name == "tf32" else _ADVICE,
                severity=severity,
                fix=_fix(module, keyword, value),
                cause=name,
            )


def _is_trainers(module: Module, place: ast.expr, keyword: ast.keyword | None) -> bool:
    """Tell arguments of a trainer: by the class, or by other arguments beside this one."""
    if keyword is not None:
        call = module.parent(keyword)
        name = roles.callee(module, keyword)
        beside = {k.arg for k in call.keywords} if isinstance(call, ast.Call) else set()
        return name.endswith(("Arguments", "Args")) or bool(beside & roles.TRAINING)
    parent = module.parent(place)
    if isinstance(parent, ast.Dict):
        keys = {key.value for key in parent.keys if isinstance(key, ast.Constant)}
        return bool(keys & roles.TRAINING)
    holder = place.value if isinstance(place, ast.Attribute) else None
    return isinstance(holder, ast.Name) and "training_args" in holder.id


def _fix(module: Module, keyword: ast.keyword | None, value: ast.expr) -> Fix | None:
    """Swap fp16 for bf16, where it is plainly true."""
    call = module.parent(keyword) if keyword is not None else None
    plain = isinstance(value, ast.Constant) and value.value is True
    if keyword is None or not isinstance(call, ast.Call) or not plain or keyword.arg == "tf32":
        return None
    new = _NAMES[keyword.arg or ""][0]
    other = argument(call, new)
    if other is None:
        return repair.fix(module, Applicability.UNSAFE, roles.renamed(module, keyword, new))
    if not isinstance(other, ast.Constant):
        return None
    edits = (module.edit(value, "False"), module.edit(other, "True"))
    return repair.fix(module, Applicability.UNSAFE, *edits)


@RULE.string("fp16")
def check_mixed(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find ``mixed_precision="fp16"``."""
    named = constant.value == "fp16" and roles.role(module, constant) == "mixed_precision"
    if named and not roles.guarded(module, constant, _WISHED):
        edit = roles.text_edit(module, constant, "bf16")
        yield module.hit(
            constant,
            _MIXED,
            _ADVICE,
            fix=repair.fix(module, Applicability.UNSAFE, edit),
            severity=None if isinstance(module.parent(constant), ast.keyword) else Severity.WARNING,
            cause="fp16",
        )


@RULE.string("fp8")
def check_fp8(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find ``mixed_precision="fp8"``."""
    named = constant.value == "fp8" and roles.role(module, constant) == "mixed_precision"
    if named and not roles.guarded(module, constant, _WISHED):
        yield module.hit(
            constant,
            "accelerate's `fp8` needs Transformer Engine, MS-AMP or torchao on an NVIDIA GPU",
            _ADVICE,
            cause="fp8",
        )


@RULE.keyword("half_precision_backend")
def check_backend(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find backends of half precision."""
    if set(module.value(keyword.value).strings()) & {"apex", "cuda_amp"}:
        yield module.hit(keyword, "`half_precision_backend` asks for CUDA's own", "leave it out")


@RULE.document(*_FLAVOURS)
def check_document(document: Document) -> Iterator[Hit]:
    """Find the switches in configs of trainers and of accelerate."""
    for entry in document.entries:
        fix = None
        if entry.key == "mixed_precision" and entry.text() == "fp16":
            quote = document.source.slice(entry.span)[:1]
            quote = quote if quote in {'"', "'"} else ""
            fix = document.replace(entry.span, f"{quote}bf16{quote}", Applicability.UNSAFE)
            yield document.hit(entry.span, _MIXED, _ADVICE, fix=fix, cause="fp16")
        elif entry.key in _NAMES and entry.value is True and entry.key_span is not None:
            new, effect, severity = _NAMES[str(entry.key)]
            beside = {other.key for other in document.entries if len(other.keys) == len(entry.keys)}
            if new and new not in beside:
                quote = document.source.slice(entry.key_span)[:1]
                quote = quote if quote in {'"', "'"} else ""
                text = f"{quote}{new}{quote}"
                fix = document.replace(entry.key_span, text, Applicability.UNSAFE)
            yield document.hit(
                entry.key_span,
                effect,
                _ADVICE_TF32 if entry.key == "tf32" else _ADVICE,
                fix=fix,
                severity=severity,
                cause=str(entry.key),
            )


@RULE.document("shell", "dockerfile", "makefile")
def check_command(document: Document) -> Iterator[Hit]:
    """Find ``--fp16`` and ``--mixed_precision fp16`` of training commands."""
    for command in document.commands:
        word = command.option("--mixed_precision", "--mixed-precision")
        if word is not None and word.text == "fp16":
            yield document.hit(word.span, _MIXED, _ADVICE, cause="fp16")
        tf32 = flag(command, "tf32") if _trains(command.name) else None
        if tf32 is not None:
            _, effect, severity = _NAMES["tf32"]
            yield document.hit(tf32.span, effect, _ADVICE_TF32, severity=severity, cause="tf32")
        switch = flag(command, "fp16") if _trains(command.name) else None
        if switch is not None:
            yield document.hit(switch.span, _MIXED, _ADVICE, cause="fp16")


def _trains(name: str) -> bool:
    return name.startswith("python") or name in {"torchrun", "accelerate", "deepspeed", "srun"}
