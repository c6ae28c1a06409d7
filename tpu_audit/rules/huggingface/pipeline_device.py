"""TPA711: pipelines of transformers that land on the CPU."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.options import keyword as argument
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_DEVICE = 'torch.accelerator.current_accelerator() or torch.device("cpu")'

RULE = Rule(
    code="TPA711",
    name="pipeline-device",
    severity=Severity.WARNING,
    words=("pipeline",),
    docs=Docs(
        what="Finds `transformers.pipeline` with a device number, or without a device.",
        why="A number, and the default, mean the first CUDA, NPU, XPU or other device that the "
        "pipeline knows; TPUs are not among them, so it moves the model to the CPU, silently.",
        example='pipe = pipeline("text-generation", model=name, device=0)',
        instead='pipe = pipeline("text-generation", model=name, device='
        'torch.accelerator.current_accelerator() or torch.device("cpu"))',
        fix_safety="Unsafe: on a host with several devices a number may mean another than the "
        "current one.",
        references=("https://huggingface.co/docs/transformers/main_classes/pipelines",),
    ),
    valid=(
        Case("from transformers import pipeline\np = pipeline('ner', device=model.device)\n"),
        Case("from transformers import pipeline\np = pipeline('ner', device_map='auto')\n"),
        Case("from transformers import pipeline\np = pipeline('ner', device='cpu')\n"),
        Case("from mylib import pipeline\np = pipeline('ner', device=0)\n"),
        Case("from transformers import pipeline\np = pipeline('ner', **options)\n"),
        Case("from sklearn.pipeline import make_pipeline\nmake_pipeline(a, b)\n"),
    ),
    invalid=(
        Case(
            "import torch\nfrom transformers import pipeline\n"
            "p = pipeline('text-generation', model=n, device=0)\n",
            lines=(3,),
            fixed="import torch\nfrom transformers import pipeline\n"
            f"p = pipeline('text-generation', model=n, device={_DEVICE})\n",
        ),
        Case(
            "import torch\nimport transformers as t\n"
            "p = t.pipeline('ner', device=0 if torch.cuda.is_available() else -1)\n",
            lines=(3,),
            fixed="import torch\nimport transformers as t\n"
            f"p = t.pipeline('ner', device={_DEVICE})\n",
        ),
        Case(
            "from transformers import pipeline\np = pipeline('summarization', model='m')\n",
            lines=(2,),
        ),
        Case(
            "from transformers import pipeline\nGPU = 1\np = pipeline(task, device=GPU)\n",
            lines=(3,),
        ),
    ),
)


@RULE.call("transformers.pipeline", "transformers.pipelines.pipeline")
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find pipelines without a device that a TPU has."""
    del name
    if any(k.arg in {None, "device_map"} for k in call.keywords):
        return
    device = argument(call, "device")
    if device is None:
        yield module.hit(
            call.func,
            "without a device the pipeline takes a CUDA device, and falls silently to the CPU on "
            "a TPU",
            "give the accelerator's device",
            cause="pipelines on the CPU",
        )
    elif _is_number(device, module):
        yield module.hit(
            device,
            "a device number means a CUDA device: on a TPU the pipeline falls silently to the CPU",
            "give the accelerator's device",
            fix=_fix(device, module),
            cause="pipelines on the CPU",
        )


def _is_number(node: ast.expr, module: Module) -> bool:
    """Tell whether a device is a number; ``-1`` alone asks for the CPU."""
    values = [p.value for p in module.value(node)]
    return any(type(value) is int and value >= 0 for value in values)


def _fix(device: ast.expr, module: Module) -> Fix | None:
    if not isinstance(device, ast.Constant | ast.IfExp):
        return None
    text = repair.fitted(module, device, repair.device(module))
    return repair.fix(module, Applicability.UNSAFE, module.edit(device, text))
