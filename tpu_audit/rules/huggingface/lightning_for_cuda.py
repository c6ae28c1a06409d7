"""TPA712: Lightning's Trainer and Fabric, set for CUDA."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.files.lightning import trainer_entries
from tpu_audit.rules.huggingface import roles
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.dicts import items
from tpu_audit.rules.python.options import keyword as argument
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_ROOTS = (
    "lightning",
    "lightning.pytorch",
    "pytorch_lightning",
    "lightning.fabric",
    "lightning_fabric",
)
_TRAINERS = tuple(f"{root}.{name}" for root in _ROOTS for name in ("Trainer", "Fabric"))
_GPU = "Lightning looks for a CUDA or Apple device and raises `No supported gpu backend found`"
_AUTO = "Lightning knows TPUs through torch_xla alone: with TorchTPU it takes the CPU, silently"
_GPUS = "`gpus` asks for CUDA devices, and is gone from Lightning 2"
_HALF = "float16 needs a gradient scaler, whose ops a TPU does not have"
_NCCL = "there is no NCCL on a TPU host"
_OWN = (
    "write the loop yourself, or give `Trainer` an `Accelerator` of your own that moves to "
    "`torch.accelerator.current_accelerator()`"
)
_HALF_OPTION = re.compile(r"(?:--|\+{1,2})?trainer\.precision=16(?:-mixed|-true)?")
_PRECISIONS = {"16": "bf16-mixed", "16-mixed": "bf16-mixed", "16-true": "bf16-true"}

RULE = Rule(
    code="TPA712",
    name="lightning-for-cuda",
    severity=Severity.WARNING,
    words=("Trainer", "Fabric", "trainer", "LightningCLI", "DDPStrategy"),
    docs=Docs(
        what='Finds `accelerator="gpu"`, `gpus`, float16 precision and NCCL of Lightning\'s '
        "Trainer and Fabric, in code and configs, and trainers that choose their device "
        "themselves.",
        why='`accelerator="gpu"` raises without CUDA. Lightning knows TPUs through torch_xla: left '
        "to itself it trains on the CPU of a TorchTPU host. float16 needs a gradient scaler, "
        "whose ops have no kernel for TPUs.",
        example='trainer = L.Trainer(accelerator="gpu", precision="16-mixed")',
        instead='trainer = L.Trainer(accelerator=MyAccelerator(), precision="bf16-mixed")',
        fix_safety="Unsafe: bfloat16 changes the rounding on CUDA, and old GPUs compute it slowly.",
        references=(
            "https://lightning.ai/docs/pytorch/stable/common/trainer.html",
            "https://lightning.ai/docs/pytorch/stable/extensions/accelerator.html",
        ),
    ),
    valid=(
        Case("from transformers import Trainer\nt = Trainer(model=m, args=a)\n"),
        Case(
            "import lightning as L\nt = L.Trainer(accelerator=MyAccelerator(), "
            "precision='bf16-mixed')\n"
        ),
        Case("from lightning import Trainer\nt = Trainer(accelerator='cpu', precision=32)\n"),
        Case("from lightning import Trainer\nt = Trainer(**config)\n"),
        Case("trainer:\n  accelerator: cpu\n  precision: bf16-mixed\n", filename="config.yaml"),
        Case("trainer:\n  type: adam\n  precision: 16\n", filename="config.yaml"),
    ),
    invalid=(
        Case(
            "import lightning as L\nt = L.Trainer(accelerator='gpu', devices=4)\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "from pytorch_lightning import Trainer\nt = Trainer(max_epochs=3)\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "import pytorch_lightning as pl\nt = pl.Trainer(gpus=2, accelerator='cpu')\n",
            lines=(2,),
        ),
        Case(
            "from lightning.fabric import Fabric\n"
            "f = Fabric(accelerator='cpu', precision='16-mixed')\n",
            lines=(2,),
            fixed="from lightning.fabric import Fabric\n"
            "f = Fabric(accelerator='cpu', precision='bf16-mixed')\n",
        ),
        Case(
            "import lightning.pytorch as pl\nt = pl.Trainer(accelerator='cpu', precision=16)\n",
            lines=(2,),
            fixed="import lightning.pytorch as pl\n"
            "t = pl.Trainer(accelerator='cpu', precision=\"bf16-mixed\")\n",
        ),
        Case(
            "from lightning.pytorch.strategies import DDPStrategy\n"
            "s = DDPStrategy(process_group_backend='nccl')\n",
            lines=(2,),
        ),
        Case("python m.py fit --trainer.precision=16-mixed\n", filename="run.sh", lines=(1,)),
        Case(
            "cli = LightningCLI(trainer_defaults={'accelerator': 'gpu', 'strategy': 'ddp'})\n",
            lines=(1,),
            severity=Severity.ERROR,
        ),
        Case(
            "trainer:\n  accelerator: gpu\n  devices: 2\n  precision: 16-mixed\n",
            filename="config.yaml",
            lines=(2, 4),
        ),
        Case(
            "_target_: pytorch_lightning.Trainer\naccelerator: cuda\nmax_epochs: 3\n",
            filename="configs/trainer/gpu.yaml",
            lines=(2,),
        ),
    ),
)


@RULE.call(*_TRAINERS)
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find trainers that are set for CUDA, or for no device."""
    del name
    if any(k.arg is None for k in call.keywords) and argument(call, "accelerator") is None:
        return
    gpus, precision = argument(call, "gpus", "auto_select_gpus"), argument(call, "precision")
    if gpus is not None:
        yield module.hit(gpus, _GPUS, _OWN, cause=_GPUS)
    yield from _accelerator(call, module)
    for possible in module.value(precision) if precision is not None else ():
        new = _PRECISIONS.get(str(possible.value))
        if new:
            yield module.hit(
                possible.node,
                f"precision `{possible.value}`: {_HALF}",
                f'write `precision="{new}"`',
                fix=_fix(possible.node, new, module),
                cause=_HALF,
            )


def _accelerator(call: ast.Call, module: Module) -> Iterator[Hit]:
    accelerator = argument(call, "accelerator")
    if accelerator is None:
        if argument(call, "gpus") is None and "lightning" in str(module.qualified(call.func)):
            yield module.hit(call.func, _AUTO, _OWN, cause=_AUTO)
        return
    for possible in module.value(accelerator):
        if possible.value in {"gpu", "cuda"}:
            yield module.hit(possible.node, _GPU, _OWN, severity=Severity.ERROR, cause=_GPU)
        elif possible.value == "auto":
            yield module.hit(possible.node, _AUTO, _OWN, cause=_AUTO)


def _fix(node: ast.expr, new: str, module: Module) -> Fix:
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    edit = roles.text_edit(module, node, new) if text else module.edit(node, f'"{new}"')
    return repair.fix(module, Applicability.UNSAFE, edit)


@RULE.keyword("trainer_defaults")
def check_defaults(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find what `LightningCLI` gives its trainer."""
    for key, value in items(keyword.value):
        name = getattr(key, "value", "")
        for possible in module.value(value):
            new = _PRECISIONS.get(str(possible.value)) if name == "precision" else None
            if name == "accelerator" and possible.value in {"gpu", "cuda"}:
                yield module.hit(possible.node, _GPU, _OWN, severity=Severity.ERROR, cause=_GPU)
            elif new:
                advice = f'write `"{new}"`'
                fix = _fix(possible.node, new, module)
                yield module.hit(possible.node, _HALF, advice, fix=fix, cause=_HALF)


@RULE.keyword("process_group_backend")
def check_backend(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find strategies that name NCCL."""
    if "nccl" in module.value(keyword.value).strings():
        yield module.hit(
            keyword,
            _NCCL,
            "leave it out: `torch.distributed.get_default_backend_for_device` chooses",
            severity=Severity.ERROR,
        )


@RULE.document("shell", "dockerfile", "makefile", "yaml")
def check_command(document: Document) -> Iterator[Hit]:
    """Find overrides of the trainer on the command line."""
    for command in document.commands:
        for word in command.words[1:]:
            if _HALF_OPTION.fullmatch(word.text):
                advice = "write `trainer.precision=bf16-mixed`"
                yield document.hit(word.span, f"`{word.text}`: {_HALF}", advice, cause=_HALF)


@RULE.document("yaml", "json")
def check_document(document: Document) -> Iterator[Hit]:
    """Find the settings under ``trainer:``, and beside ``_target_`` of a Trainer."""
    for entry in trainer_entries(document):
        new = _PRECISIONS.get(entry.text()) if entry.key == "precision" else None
        if entry.key == "accelerator" and entry.text() in {"gpu", "cuda"}:
            yield document.hit(entry.span, _GPU, _OWN, severity=Severity.ERROR, cause=_GPU)
        elif entry.key == "gpus" and entry.text() not in {"0", ""}:
            yield document.hit(entry.span, _GPUS, _OWN, cause=_GPUS)
        elif new:
            yield document.hit(
                entry.span,
                f"precision `{entry.value}`: {_HALF}",
                f"write `precision: {new}`",
                fix=document.replace(entry.span, new, Applicability.UNSAFE),
                cause=_HALF,
            )
