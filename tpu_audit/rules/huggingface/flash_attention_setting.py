"""TPA701: FlashAttention asked of a model."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.huggingface import roles
from tpu_audit.rules.python import repair
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_VALUE = re.compile(
    r"(paged\|)?(flash_attention_[234]|flash_attention|flash_attn[\w-]*)$|.*/[\w.-]*flash[\w.:@-]*$"
)
_ROLE = re.compile(r"attn|attention", re.IGNORECASE)
_SWITCHES = ("use_flash_attention_2", "use_flash_attention", "_flash_attn_2_enabled")
_ASKED = re.compile(r"flash\w*(requested|available)|is_flash\w*\(|has_flash|HAS_FLASH")
_WISHED = re.compile(r"flash|attn|attention", re.IGNORECASE)
_PACKED = re.compile(r"DataCollatorWithFlattening|padding_free|cu_seqlens|packing")
_ADVICE = 'write `attn_implementation="sdpa"`, which runs as a flash kernel on TPUs'

RULE = Rule(
    code="TPA701",
    name="flash-attention-setting",
    severity=Severity.ERROR,
    words=(
        *("attn_implementation", "_attn_implementation", "flash_attention_2", "flash_attention_3"),
        *("flash_attention_4", "use_flash_attention_2", "use_flash_attention", "flex_attention"),
        *("flash_attention", "flash_attn", "flash-attn*", "attn_impl", "_flash_attn_2_enabled"),
    ),
    docs=Docs(
        what="Finds models that are asked for FlashAttention, or for flex attention, in calls, "
        "settings and configs.",
        why="The `flash_attn` package cannot be installed on a TPU host, and transformers raises "
        "when a model asks for it. It refuses flex attention on TPUs, too. Attention by "
        "`scaled_dot_product_attention` runs as a flash kernel there.",
        example='model = AutoModel.from_pretrained(name, attn_implementation="flash_attention_2")',
        instead='model = AutoModel.from_pretrained(name, attn_implementation="sdpa")',
        fix_safety="Safe: both compute the same attention. Unsafe where a file packs sequences "
        "without padding, since FlashAttention alone keeps packed sequences apart by their "
        "lengths, and in documents.",
        references=(
            "https://huggingface.co/docs/transformers/attention_interface",
            "https://docs.pytorch.org/docs/stable/nn.functional.html",
        ),
    ),
    valid=(
        Case('m = AutoModel.from_pretrained(n, attn_implementation="sdpa")\n'),
        Case('if config._attn_implementation == "flash_attention_2":\n    mask = None\n'),
        Case(
            "import torch\nm = AutoModel.from_pretrained(n, attn_implementation="
            '"flash_attention_2" if torch.cuda.is_available() else "sdpa")\n'
        ),
        Case(
            "from transformers.utils import is_flash_attn_2_available\n"
            'm = AutoModel.from_config(c, attn_implementation="flash_attention_2" '
            'if is_flash_attn_2_available() else "sdpa")\n'
        ),
        Case('KERNELS = {"flash_attention_3": "kernels-community/flash-attn3"}\n'),
        Case('SUPPORTED = ["eager", "flash_attention_2"]\n'),
        Case('p.add_argument("--attn", choices=["sdpa", "flash_attention_2"])\n'),
        Case('{"model_type": "llama", "attn_implementation": "sdpa"}\n', filename="config.json"),
        Case("m = AutoModel.from_pretrained(n, use_flash_attention_2=False)\n"),
    ),
    invalid=(
        Case(
            "try:\n    m = C.from_pretrained(p, attn_implementation='flash_attention_2')\n"
            "except Exception:\n    m = C.from_pretrained(p)\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case("stage: sft\nflash_attn: fa2\n", filename="lf.yaml", lines=(2,)),
        Case(
            'm = AutoModel.from_pretrained(n, attn_implementation="flash_attention_2")\n',
            lines=(1,),
            columns=(54,),
            severity=Severity.ERROR,
            fixed='m = AutoModel.from_pretrained(n, attn_implementation="sdpa")\n',
        ),
        Case(
            "kwargs = {'dtype': 'auto', 'attn_implementation': 'flash_attention_3'}\n",
            lines=(1,),
            fixed="kwargs = {'dtype': 'auto', 'attn_implementation': 'sdpa'}\n",
        ),
        Case(
            "config._attn_implementation = 'flash_attention_2'\n",
            lines=(1,),
            fixed="config._attn_implementation = 'sdpa'\n",
        ),
        Case(
            'attn = "flash_attention_2" if args.fast else "eager"\n'
            "m = AutoModel.from_config(c, attn_implementation=attn)\n",
            lines=(1,),
            fixed='attn = "sdpa" if args.fast else "eager"\n'
            "m = AutoModel.from_config(c, attn_implementation=attn)\n",
        ),
        Case(
            "from dataclasses import dataclass, field\n\n@dataclass\nclass Args:\n"
            '    attn_implementation: str = field(default="flash_attention_2")\n',
            lines=(5,),
            severity=Severity.WARNING,
            fixed="from dataclasses import dataclass, field\n\n@dataclass\nclass Args:\n"
            '    attn_implementation: str = field(default="sdpa")\n',
        ),
        Case(
            'def load(name, attn_implementation="kernels-community/flash-attn2"):\n    pass\n',
            lines=(1,),
            severity=Severity.WARNING,
            fixed='def load(name, attn_implementation="sdpa"):\n    pass\n',
        ),
        Case(
            "m = AutoModelForCausalLM.from_pretrained(n, use_flash_attention_2=True)\n", lines=(1,)
        ),
        Case(
            'm = load(n, attn_implementation={"text_config": "flash_attention_2"})\n',
            lines=(1,),
            fixed='m = load(n, attn_implementation={"text_config": "sdpa"})\n',
        ),
        Case('m.set_attn_implementation("flex_attention")\n', lines=(1,)),
        Case(
            '{"model_type": "llama",\n "_attn_implementation": "flash_attention_2"}\n',
            filename="config.json",
            lines=(2,),
            severity=Severity.ERROR,
            fixed='{"model_type": "llama",\n "_attn_implementation": "sdpa"}\n',
        ),
        Case(
            "model_name: m\nattn_implementation: flash_attention_2  # fast\n",
            filename="sft.yaml",
            lines=(2,),
            fixed="model_name: m\nattn_implementation: sdpa  # fast\n",
        ),
        Case(
            "accelerate launch sft.py --attn_implementation flash_attention_2\n",
            filename="run.sh",
            lines=(1,),
        ),
    ),
)


@RULE.string("flash", "flex_attention")
def check(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find strings that are given as an attention."""
    value = str(constant.value)
    if not _is_refused(value) or not _ROLE.search(name := _role(constant, module)):
        return
    if "flash" in name.lower() or roles.guarded(module, constant, _ASKED):
        return
    caught = module.context(constant).caught
    default = (
        caught or roles.is_default(constant, module) or roles.guarded(module, constant, _WISHED)
    )
    packed = _PACKED.search(module.text) is not None or value == "flex_attention"
    level = Applicability.UNSAFE if packed else Applicability.SAFE
    yield module.hit(
        constant,
        _message(value),
        _ADVICE,
        severity=Severity.WARNING if default or not name.endswith("implementation") else None,
        fix=repair.fix(module, level, roles.text_edit(module, constant, "sdpa")),
        cause="flex attention" if value == "flex_attention" else "FlashAttention",
    )


def _role(constant: ast.Constant, module: Module) -> str:
    """Return what a string is given as; in a dict by parts of a model, what the dict is."""
    name = roles.role(module, constant)
    holder = module.parent(constant)
    by_part = isinstance(holder, ast.Dict) and name.endswith("config")
    return roles.role(module, holder) if by_part and isinstance(holder, ast.Dict) else name


@RULE.keyword(*_SWITCHES)
def check_switch(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find the older switches."""
    if roles.is_on(module, keyword.value):
        yield module.hit(
            keyword, f"`{keyword.arg}` needs the flash_attn package: on a TPU it raises", _ADVICE
        )


@RULE.document("json", "yaml", "toml", "ini")
def check_document(document: Document) -> Iterator[Hit]:
    """Find the setting in configs."""
    for entry in document.entries:
        if not isinstance(entry.value, str | bool) or not isinstance(entry.key, str):
            continue
        short = entry.key == "flash_attn" and entry.text() in {"fa2", "fa3"}
        if short or (entry.key in _SWITCHES and entry.value is True):
            yield document.hit(
                entry.span,
                f"`{entry.key}` needs the flash_attn package: on a TPU it raises",
                _ADVICE,
            )
        elif isinstance(entry.value, str) and _is_setting(entry.key) and _is_refused(entry.value):
            quote = document.source.slice(entry.span)[:1]
            quote = quote if quote in {'"', "'"} else ""
            yield document.hit(
                entry.span,
                _message(entry.value),
                _ADVICE,
                fix=document.replace(entry.span, f"{quote}sdpa{quote}", Applicability.UNSAFE),
                cause="FlashAttention",
            )


@RULE.document("shell", "dockerfile", "makefile", "yaml")
def check_command(document: Document) -> Iterator[Hit]:
    """Find the setting in options of commands."""
    for command in document.commands:
        word = command.option("--attn_implementation", "--attn-implementation")
        if word is not None and _is_refused(word.text):
            yield document.hit(word.span, _message(word.text), _ADVICE, cause="FlashAttention")


def _is_refused(value: str) -> bool:
    return value == "flex_attention" or _VALUE.match(value) is not None


def _is_setting(key: str) -> bool:
    return key.lstrip("_") in {"attn_implementation", "attn_impl", "attention_implementation"}


def _message(value: str) -> str:
    if value == "flex_attention":
        return "transformers refuses flex attention on a TPU: loading the model raises"
    return f"`{value}` needs CUDA kernels: on a TPU loading the model raises"
