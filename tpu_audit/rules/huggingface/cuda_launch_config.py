"""TPA707: DeepSpeed and several GPUs, in settings of trainers and of accelerate."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.huggingface import roles
from tpu_audit.rules.huggingface.trainers import ACCELERATE, TRAINER
from tpu_audit.rules.libraries.optional import is_optional
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_DEEPSPEED = "DeepSpeed has no accelerator for TPUs: it takes the CPU, or raises"
_FSDP = "shard with FSDP2 (`fully_shard`), and train in bfloat16"
_TYPES = {
    "MULTI_GPU": ("`MULTI_GPU` starts NCCL processes", Severity.WARNING),
    "DEEPSPEED": (_DEEPSPEED, Severity.ERROR),
    "MEGATRON_LM": ("Megatron-LM needs CUDA and NCCL", Severity.ERROR),
    "MULTI_XPU": ("`MULTI_XPU` starts processes for Intel GPUs", Severity.WARNING),
}
_TORCHRUN = (
    "start one process a chip with `torchrun` and the environment of `torch.tpu.distributed`"
)

RULE = Rule(
    code="TPA707",
    name="cuda-launch-config",
    severity=Severity.ERROR,
    words=(
        *("deepspeed", "distributed_type", "gpu_ids", "zero_optimization", "DeepSpeedPlugin"),
        *("zero3_init_flag", "train_micro_batch_size_per_gpu", "MegatronLMPlugin"),
    ),
    docs=Docs(
        what="Finds DeepSpeed configs, `deepspeed=` of a trainer, DeepSpeed's and Megatron's "
        "plugins of accelerate, and accelerate's configs for several GPUs.",
        why="DeepSpeed and Megatron have no accelerator for TPUs. accelerate knows TPUs through "
        "torch_xla alone: its `tpu_*` keys do not make a config ready for TorchTPU.",
        example='args = TrainingArguments("out", deepspeed="ds_zero3.json")',
        instead='args = TrainingArguments("out", fsdp="full_shard", fsdp_config="fsdp.json")',
        references=(TRAINER, ACCELERATE),
    ),
    valid=(
        Case('args = TrainingArguments("o", deepspeed=None)\n'),
        Case('args = TrainingArguments("o", fsdp="full_shard")\n'),
        Case("if trainer.is_deepspeed_enabled:\n    pass\n"),
        Case(
            "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\ntpu_env: []\n",
            filename="fsdp.yaml",
        ),
        Case("def f(args):\n    return Trainer(deepspeed=args.deepspeed)\n"),
    ),
    invalid=(
        Case(
            'args = TrainingArguments("o", deepspeed="ds.json")\n',
            lines=(1,),
            severity=Severity.ERROR,
        ),
        Case("ds = {'zero_optimization': {'stage': 3}, 'fp16': {'enabled': True}}\n", lines=(1,)),
        Case(
            "DS = {'zero_optimization': {'stage': 3}}\n",
            filename="ds_config.py",
            lines=(1,),
            severity=Severity.ERROR,
        ),
        Case(
            "from accelerate import Accelerator, DeepSpeedPlugin\n"
            "plugin = DeepSpeedPlugin(zero_stage=2)\n",
            lines=(2,),
        ),
        Case(
            "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\ngpu_ids: 1,3\n"
            "tpu_env: []\n",
            filename="default_config.yaml",
            lines=(2, 3),
            severity=Severity.WARNING,
        ),
        Case(
            "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\ngpu_ids: all\n"
            "deepspeed_config:\n  zero_stage: 2\n",
            filename="ds.yaml",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            '{"train_micro_batch_size_per_gpu": 4,\n "zero_optimization": {"stage": 2}}\n',
            filename="ds_config.json",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "per_device_train_batch_size: 4\nlogging_steps: 10\ndeepspeed: ds.json\n",
            filename="sft.yaml",
            lines=(3,),
        ),
        Case(
            "torchrun train.py --output_dir o --deepspeed ds.json\n", filename="run.sh", lines=(1,)
        ),
    ),
)


@RULE.keyword("deepspeed")
def check(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find configs given to a trainer."""
    is_trainers = roles.callee(module, keyword).endswith(("Arguments", "Args", "Config"))
    known = [p.value for p in module.value(keyword.value)]
    given = any(isinstance(value, str) and value for value in known)
    if is_trainers and (given or isinstance(keyword.value, ast.Dict)):
        yield module.hit(keyword, f"`deepspeed` is set: {_DEEPSPEED}", _FSDP, cause=_DEEPSPEED)


@RULE.call("accelerate.DeepSpeedPlugin", "accelerate.utils.DeepSpeedPlugin")
def check_plugin(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find accelerate's plugin."""
    del name
    yield module.hit(
        call,
        f"`DeepSpeedPlugin`: {_DEEPSPEED}",
        _FSDP,
        severity=_in_extra(call, module),
        cause=_DEEPSPEED,
    )


def _in_extra(node: ast.AST, module: Module) -> Severity | None:
    """Return info for code that serves those who ask for DeepSpeed."""
    return Severity.INFO if is_optional(module, node, "deepspeed") else None


@RULE.call("accelerate.utils.MegatronLMPlugin")
def check_megatron(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find Megatron's plugin."""
    del name
    yield module.hit(call, "Megatron-LM needs CUDA and NCCL", _FSDP)


@RULE.string("zero_optimization")
def check_dict(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find DeepSpeed configs as dicts."""
    parent = module.parent(constant)
    is_key = constant.value == "zero_optimization" and isinstance(parent, ast.Dict)
    if is_key and roles.entry(module, constant) is not None:
        yield module.hit(
            constant,
            f"this is a DeepSpeed config: {_DEEPSPEED}",
            _FSDP,
            severity=_in_extra(constant, module) if module.context(constant).function else None,
            cause=_DEEPSPEED,
        )


@RULE.document("deepspeed")
def check_config(document: Document) -> Iterator[Hit]:
    """Find DeepSpeed configs: one finding a file."""
    marks = ("zero_optimization", "train_micro_batch_size_per_gpu", "zero_allow_untested_optimizer")
    for name in marks:
        entry = next((e for e in document.entries if e.keys == (name,)), None)
        if entry is not None:
            yield document.hit(
                entry.key_span or entry.span,
                f"this is a DeepSpeed config: {_DEEPSPEED}",
                _FSDP,
                cause=_DEEPSPEED,
            )
            return


@RULE.document("accelerate")
def check_accelerate(document: Document) -> Iterator[Hit]:
    """Find accelerate's configs for several GPUs and for DeepSpeed."""
    for entry in document.entries:
        if entry.keys == ("distributed_type",) and (found := _TYPES.get(entry.text().upper())):
            effect, severity = found
            advice = _FSDP if severity is Severity.ERROR else _TORCHRUN
            yield document.hit(entry.span, effect, advice, severity=severity)
        elif entry.keys == ("gpu_ids",) and entry.text() not in {"", "all"}:
            yield document.hit(
                entry.span,
                "`gpu_ids` chooses CUDA devices: a TPU process sees one chip",
                "leave it out",
                severity=Severity.WARNING,
            )


@RULE.document("training-arguments")
def check_arguments(document: Document) -> Iterator[Hit]:
    """Find ``deepspeed:`` in configs of trainers."""
    for entry in document.keyed("deepspeed"):
        if entry.container or entry.text() not in {"", "null", "none", "false"}:
            yield document.hit(
                entry.key_span or entry.span,
                f"`deepspeed` is set: {_DEEPSPEED}",
                _FSDP,
                cause=_DEEPSPEED,
            )


@RULE.document("shell", "dockerfile", "makefile")
def check_command(document: Document) -> Iterator[Hit]:
    """Find ``--deepspeed`` of training commands that DeepSpeed's launcher does not start."""
    for command in document.commands:
        word = command.option("--deepspeed", "--deepspeed_config", "--use_deepspeed")
        if word is not None and command.name != "deepspeed":
            yield document.hit(
                word.span, f"`--deepspeed` is set: {_DEEPSPEED}", _FSDP, cause=_DEEPSPEED
            )
