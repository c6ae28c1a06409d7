"""TPA715: switches of remote code for CUDA kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.huggingface import roles
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_SWITCHES = (
    *("use_flash_attn", "use_flash_attn_2", "use_mamba_kernels", "use_cache_kernel", "flash_attn"),
    *("use_cache_quantization", "use_fused_rms_norm", "use_fused_rotary", "fused_bias_fc"),
    *("use_fused_cross_entropy", "use_fused_mlp", "fused_dropout_add_ln", "use_xformers"),
    *("use_memory_efficient_attention", "fuse_norm", "fuse_cross_entropy", "use_dynamo_kernels"),
)

RULE = Rule(
    code="TPA715",
    name="kernel-switch",
    severity=Severity.INFO,
    words=_SWITCHES,
    docs=Docs(
        what="Finds switches of models' own code that turn CUDA kernels on, as `use_flash_attn` "
        "and `use_mamba_kernels`, in configs and calls.",
        why="The code behind such a switch imports FlashAttention, mamba-ssm or another CUDA "
        "library. Most models go on without where the library is missing, some raise.",
        example='{"model_type": "qwen", "use_flash_attn": true}',
        instead='{"model_type": "qwen", "use_flash_attn": false}',
        references=("https://huggingface.co/docs/transformers/custom_models",),
    ),
    valid=(
        Case("m = AutoModel.from_pretrained(n, use_flash_attn=False)\n"),
        Case('{"model_type": "own", "use_flash_attn": false}\n', filename="config.json"),
        Case("class C:\n    use_mamba_kernels = None\n"),
        Case("if config.use_flash_attn:\n    run()\n"),
    ),
    invalid=(
        Case(
            '{"model_type": "own",\n "use_flash_attn": true}\n', filename="config.json", lines=(2,)
        ),
        Case("m = AutoModel.from_pretrained(n, use_flash_attn=True)\n", lines=(1,)),
        Case("config.use_mamba_kernels = True\n", lines=(1,), severity=Severity.INFO),
        Case("kw = {'use_flash_attn': True}\n", lines=(1,)),
    ),
)


@RULE.module
def check(module: Module) -> Iterator[Hit]:
    """Find switches that are on."""
    for name in _SWITCHES:
        if name in module.text:
            for place, _, keyword in roles.enabled(module, name):
                yield module.hit(
                    keyword or place, _message(name), f"write `{name}=False`", cause=name
                )


@RULE.document("hf-config")
def check_document(document: Document) -> Iterator[Hit]:
    """Find switches that are on in a model's config."""
    for entry in document.entries:
        if entry.key in _SWITCHES and entry.value is True:
            name = str(entry.key)
            yield document.hit(
                entry.key_span or entry.span, _message(name), f"set `{name}` to false", cause=name
            )


def _message(name: str) -> str:
    return f"`{name}` turns on CUDA kernels, which a TPU host does not have"
