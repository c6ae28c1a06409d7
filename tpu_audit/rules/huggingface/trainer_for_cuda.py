"""TPA709: settings of a trainer that compile for CUDA, or keep to the CPU."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.huggingface import roles
from tpu_audit.rules.huggingface.trainers import TRAINER
from tpu_audit.rules.python import repair
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.files.document import Document, Entry
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_MODES = frozenset({"reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"})
_BACKENDS = frozenset({"inductor", "cudagraphs", "tensorrt", "torch_tensorrt", "onnxrt", "nvfuser"})
_MODE = "a compile mode raises `TypeError` on a TPU"
_BACKEND = "this compile backend has no way to a TPU: the first compiled call raises"
_DEFAULT = "`torch_compile=True` without a backend takes inductor, which refuses TPU tensors"
_ADVICE = "leave it out, and call `torch.compile(model)` before making the trainer"
_STAYS = "keeps the training on the host's CPU"
_FLAVOURS = ("training-arguments", "accelerate")

RULE = Rule(
    code="TPA709",
    name="trainer-for-cuda",
    severity=Severity.WARNING,
    words=(
        *("torch_compile_mode", "torch_compile_backend", "torch_compile", "no_cuda", "use_cpu"),
        *("dynamo_backend", "dynamo_mode", "dataloader_pin_memory"),
    ),
    docs=Docs(
        what="Finds compile settings of `TrainingArguments` and accelerate that are made for CUDA, "
        "`no_cuda` and `use_cpu`, and pinned memory.",
        why="The trainer compiles with inductor unless told otherwise, which raises with TPU "
        "tensors, as modes such as `max-autotune` do. `no_cuda=True` leaves the TPU idle. Pinned "
        "memory brings nothing on a TPU.",
        example='args = TrainingArguments("out", torch_compile_mode="reduce-overhead")',
        instead='args = TrainingArguments("out")\nmodel = torch.compile(model)',
        fix_safety="Unsafe: compiled training may become slower on CUDA.",
        references=(TRAINER,),
    ),
    valid=(
        Case("args = TrainingArguments('o', torch_compile=False, dataloader_pin_memory=False)\n"),
        Case("args = TrainingArguments('o', torch_compile=True, torch_compile_backend=name)\n"),
        Case("args = TrainingArguments('o', no_cuda=False, use_cpu=False)\n"),
        Case(
            "compute_environment: LOCAL_MACHINE\ndistributed_type: 'NO'\nuse_cpu: false\n",
            filename="default_config.yaml",
        ),
        Case("parser.add_argument('--no_cuda', action='store_true')\n"),
    ),
    invalid=(
        Case(
            "args = TrainingArguments('o', torch_compile_mode='reduce-overhead')\n",
            lines=(1,),
            severity=Severity.WARNING,
            fixed="args = TrainingArguments('o')\n",
        ),
        Case(
            "args = SFTConfig(torch_compile_backend='inductor', output_dir='o')\n",
            lines=(1,),
            fixed="args = SFTConfig(output_dir='o')\n",
        ),
        Case("args = TrainingArguments('o', torch_compile=True)\n", lines=(1,)),
        Case("args = TrainingArguments(output_dir='o', no_cuda=True)\n", lines=(1,)),
        Case(
            "args = TrainingArguments('o', dataloader_pin_memory=True)\n",
            lines=(1,),
            severity=Severity.INFO,
            fixed="args = TrainingArguments('o', dataloader_pin_memory=False)\n",
        ),
        Case(
            "compute_environment: LOCAL_MACHINE\ndistributed_type: 'NO'\ndynamo_config:\n"
            "  dynamo_backend: INDUCTOR\n  dynamo_mode: max-autotune\n",
            filename="default_config.yaml",
            lines=(4, 5),
        ),
        Case(
            "output_dir: o\nlogging_steps: 5\ntorch_compile_mode: max-autotune\n",
            filename="args.yaml",
            lines=(3,),
        ),
    ),
)


@RULE.keyword("torch_compile_mode", "torch_compile_backend")
def check(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find modes and backends."""
    texts = set(module.value(keyword.value).strings())
    refused, effect = (
        (_MODES, _MODE) if keyword.arg == "torch_compile_mode" else (_BACKENDS, _BACKEND)
    )
    if texts & refused:
        yield module.hit(keyword, effect, _ADVICE, fix=_without(keyword, module), cause=effect)


@RULE.keyword("torch_compile", "no_cuda", "use_cpu", "dataloader_pin_memory")
def check_switch(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find switches of a trainer's arguments."""
    call = module.parent(keyword)
    if not isinstance(call, ast.Call) or not _is_trainers(call, keyword, module):
        return
    if not (isinstance(keyword.value, ast.Constant) and keyword.value.value is True):
        return
    if keyword.arg == "torch_compile":
        if not any(k.arg == "torch_compile_backend" for k in call.keywords):
            yield module.hit(keyword, _DEFAULT, _ADVICE, cause=_DEFAULT)
    elif keyword.arg == "dataloader_pin_memory":
        fix = repair.fix(module, Applicability.UNSAFE, module.edit(keyword.value, "False"))
        yield module.hit(
            keyword,
            "pinned memory brings nothing on a TPU",
            "write `dataloader_pin_memory=False`",
            severity=Severity.INFO,
            fix=fix,
        )
    else:
        yield module.hit(keyword, f"`{keyword.arg}` {_STAYS}", "leave it out", cause=_STAYS)


def _is_trainers(call: ast.Call, keyword: ast.keyword, module: Module) -> bool:
    name = roles.callee(module, keyword)
    return name.endswith("Arguments") or bool({k.arg for k in call.keywords} & roles.TRAINING)


def _without(keyword: ast.keyword, module: Module) -> Fix | None:
    edit = roles.without(module, keyword)
    return None if edit is None else repair.fix(module, Applicability.UNSAFE, edit)


@RULE.document(*_FLAVOURS)
def check_document(document: Document) -> Iterator[Hit]:
    """Find the settings in configs."""
    for entry in document.entries:
        effect = _effect(entry)
        if effect:
            yield document.hit(entry.span, effect, _ADVICE, cause=effect)


def _effect(entry: Entry) -> str:
    text = entry.text()
    effect = ""
    if entry.key in {"torch_compile_mode", "dynamo_mode"} and text in _MODES:
        effect = _MODE
    elif entry.key in {"torch_compile_backend", "dynamo_backend"} and text in _BACKENDS:
        effect = _BACKEND
    elif entry.key in {"no_cuda", "use_cpu"} and entry.value is True and len(entry.keys) == 1:
        effect = f"`{entry.key}` {_STAYS}"
    return effect
