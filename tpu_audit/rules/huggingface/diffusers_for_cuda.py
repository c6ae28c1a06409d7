"""TPA714: memory and speed settings of diffusers that are made for CUDA."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.huggingface import roles
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.arguments import renamed
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_OFFLOAD = (
    "copies weights between the host and the TPU at every call, and older diffusers look for a "
    "CUDA device"
)
_METHODS = {
    "enable_xformers_memory_efficient_attention": (
        "needs xFormers and CUDA: on a TPU it raises",
        Severity.ERROR,
    ),
    "set_use_memory_efficient_attention_xformers": (
        "needs xFormers and CUDA: on a TPU it raises",
        Severity.ERROR,
    ),
    "enable_model_cpu_offload": (_OFFLOAD, Severity.WARNING),
    "enable_sequential_cpu_offload": (_OFFLOAD, Severity.WARNING),
    "enable_group_offload": (_OFFLOAD, Severity.WARNING),
}
_ASKED = re.compile(r"is_xformers_available|offload|hook", re.IGNORECASE)
"""Tests that ask for the library, or whether offloading was chosen."""
_BACKENDS = ("flash", "_flash", "sage", "_sage", "xformers", "_native_cudnn", "aiter", "flex")
_MAKERS = frozenset({"from_pretrained", "from_single_file", "load_lora_weights"})

RULE = Rule(
    code="TPA714",
    name="diffusers-for-cuda",
    severity=Severity.WARNING,
    words=(*_METHODS, "set_attention_backend", "attention_backend", "variant"),
    docs=Docs(
        what="Finds xFormers' attention, offloading to the host, CUDA attention backends and the "
        "float16 variant in diffusers.",
        why="xFormers and the other attention backends are CUDA code: choosing one raises. "
        "Attention by PyTorch runs as a flash kernel on TPUs. Offloading copies weights at every "
        "step. Weights of the float16 variant have lost bits and range that bfloat16 keeps.",
        example="pipe.enable_xformers_memory_efficient_attention()",
        instead="pipe = pipe.to(torch.accelerator.current_accelerator())",
        fix_safety="Unsafe: on CUDA the pipeline takes more memory without these settings.",
        references=(
            "https://huggingface.co/docs/diffusers/optimization/memory",
            "https://huggingface.co/docs/diffusers/optimization/attention_backends",
        ),
    ),
    valid=(
        Case("pipe.enable_attention_slicing()\npipe.enable_vae_tiling()\n"),
        Case(
            "import torch\nif torch.cuda.is_available():\n"
            "    pipe.enable_xformers_memory_efficient_attention()\n"
        ),
        Case("pipe.transformer.set_attention_backend('native')\n"),
        Case("chart.plot(variant='fp16')\n"),
        Case(
            "class P:\n    def enable_model_cpu_offload(self):\n"
            "        self.prior.enable_model_cpu_offload()\n"
        ),
        Case("class P:\n    def enable_model_cpu_offload(self):\n        pass\n"),
    ),
    invalid=(
        Case(
            "pipe.enable_xformers_memory_efficient_attention()\npipe(prompt)\n",
            lines=(1,),
            severity=Severity.ERROR,
            fixed="pipe(prompt)\n",
        ),
        Case(
            "def load(pipe, save):\n    if save:\n        pipe.enable_model_cpu_offload()\n"
            "    return pipe\n",
            lines=(3,),
            severity=Severity.WARNING,
            fixed="def load(pipe, save):\n    if save:\n        pipe.to(torch.accelerator."
            'current_accelerator() or torch.device("cpu"))\n    return pipe\n',
        ),
        Case(
            "from diffusers.utils import is_xformers_available\n"
            "if is_xformers_available():\n"
            "    unet.enable_xformers_memory_efficient_attention()\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
        Case(
            "pipe.transformer.set_attention_backend('sage')\n", lines=(1,), severity=Severity.ERROR
        ),
        Case(
            "from diffusers import DiffusionPipeline\n"
            "p = DiffusionPipeline.from_pretrained(n, variant='fp16', dtype=torch.bfloat16)\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
    ),
)


@RULE.method(*_METHODS)
def check(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find settings by methods of pipelines and models."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    function = module.context(call).function
    delegates = function is not None and function.name in _METHODS
    if delegates or _is_off(call) or _is_super(receiver):
        return
    effect, severity = _METHODS[name]
    asked = module.context(call).caught or roles.guarded(module, call, _ASKED)
    yield module.hit(
        call,
        f"`{name}` {effect}",
        "leave it out: PyTorch's attention runs as a flash kernel"
        if severity is Severity.ERROR
        else "move the pipeline with `.to`, and shard a model that is too large for one chip",
        severity=Severity.INFO if asked else severity,
        fix=None if asked else _fix(call, module),
        span=module.method_span(call),
        cause=name,
    )


def _is_off(call: ast.Call) -> bool:
    """Tell whether a call switches xFormers off, or hands a switch on."""
    name = getattr(call.func, "attr", "")
    given = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
    return name.startswith("set_use") and given is not True


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "super"


def _fix(call: ast.Call, module: Module) -> Fix | None:
    statement = module.parent(call)
    if not isinstance(statement, ast.Expr):
        return None
    if "offload" not in getattr(call.func, "attr", ""):
        return repair.delete(module, statement, Applicability.UNSAFE)
    # The pipeline was built on the host, and nothing else moves it.
    edit = renamed(call, f"to({repair.device(module)})", module)
    return None if edit is None else repair.fix(module, Applicability.UNSAFE, edit)


@RULE.method("set_attention_backend")
def check_backend(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find attention backends of CUDA."""
    del receiver
    for argument in call.args[:1]:
        for text in module.value(argument).strings():
            if text.startswith(_BACKENDS):
                yield module.hit(
                    call,
                    f"the attention backend `{text}` has no kernels for TPUs: choosing it raises",
                    'leave it out, or write `set_attention_backend("native")`',
                    severity=Severity.ERROR,
                    span=module.method_span(call),
                )
                break


@RULE.keyword("variant")
def check_variant(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find the float16 variant of weights."""
    call = module.parent(keyword)
    word = getattr(call.func, "attr", "") if isinstance(call, ast.Call) else ""
    if word in _MAKERS and "fp16" in module.value(keyword.value).strings():
        yield module.hit(
            keyword,
            "the float16 variant is computed as bfloat16 on a TPU, with what float16 lost",
            "load the full weights with `dtype=torch.bfloat16`",
            cause="the float16 variant",
        )
