"""TPA702: quantisation whose kernels are CUDA's."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.huggingface import roles
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_RAISES = "has kernels for CUDA alone: on a TPU loading the model raises"
_UNPACKS = "is unpacked to bfloat16 on a TPU: the model takes its full memory"
_METHODS = {
    **dict.fromkeys(("bitsandbytes", "bitsandbytes_4bit", "bitsandbytes_8bit", "bnb"), _RAISES),
    **dict.fromkeys(("gptq", "awq", "aqlm", "eetq", "fbgemm_fp8", "higgs", "spqr"), _RAISES),
    **dict.fromkeys(("vptq", "fp_quant", "nvfp4", "sinq", "exl2", "marlin", "quip"), _RAISES),
    **dict.fromkeys(("auto-round", "auto_round", "modelopt", "gptq_marlin", "awq_marlin"), _RAISES),
    **dict.fromkeys(("fp8", "mxfp4", "compressed-tensors", "bitnet", "quark"), _UNPACKS),
}
_CLASSES = {
    **dict.fromkeys(("BitsAndBytesConfig", "GPTQConfig", "AwqConfig", "AqlmConfig"), _RAISES),
    **dict.fromkeys(("EetqConfig", "FbgemmFp8Config", "HiggsConfig", "SpQRConfig"), _RAISES),
    **dict.fromkeys(("VptqConfig", "FPQuantConfig", "NVFP4Config", "SinqConfig"), _RAISES),
    **dict.fromkeys(("FineGrainedFP8Config", "AutoRoundConfig"), _RAISES),
    **dict.fromkeys(("Mxfp4Config", "CompressedTensorsConfig", "BitNetQuantConfig"), _UNPACKS),
}
_SWITCHES = ("load_in_4bit", "load_in_8bit")
_WISHED = re.compile(r"bit|quant|lora|bnb|gptq|awq|fp8|low_memory", re.IGNORECASE)
_ADVICE = (
    "load the unquantised checkpoint in bfloat16, or quantise it with torchao (`TorchAoConfig`)"
)

RULE = Rule(
    code="TPA702",
    name="cuda-quantization",
    severity=Severity.ERROR,
    words=(
        *(*_CLASSES, *_SWITCHES, "quant_method", "quantization", "quantization_config"),
        "quantization_bit",
    ),
    docs=Docs(
        what="Finds models that are loaded with bitsandbytes, GPTQ, AWQ, AQLM, EETQ, FBGEMM FP8 "
        "and other quantisations, in calls and in `config.json`. A warning for those that "
        "transformers unpacks where it finds no GPU (FP8, MXFP4, compressed-tensors).",
        why="The quantised layers call CUDA kernels. transformers refuses most of them without a "
        "CUDA device; the others it unpacks, which saves no memory.",
        example="config = BitsAndBytesConfig(load_in_4bit=True)\n"
        "model = AutoModelForCausalLM.from_pretrained(name, quantization_config=config)",
        instead="model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16)",
        references=(
            "https://huggingface.co/docs/transformers/quantization/overview",
            "https://github.com/pytorch/ao",
        ),
    ),
    valid=(
        Case(
            "from transformers import TorchAoConfig\nconfig = TorchAoConfig('int8_weight_only')\n"
        ),
        Case("m = AutoModel.from_pretrained(n, load_in_4bit=False, load_in_8bit=None)\n"),
        Case("class GPTQConfig:\n    pass\n\nc = GPTQConfig()\n"),
        Case('{"quantization_config": {"quant_method": "torchao"}}\n', filename="config.json"),
        Case("if config.quant_method == 'gptq':\n    skip()\n"),
        Case(
            "import torch\nfrom transformers import BitsAndBytesConfig\n"
            "q = BitsAndBytesConfig(load_in_8bit=True) if torch.cuda.is_available() else None\n"
        ),
    ),
    invalid=(
        Case("stage: sft\nquantization_bit: 4\n", filename="lf.yaml", lines=(2,)),
        Case(
            "from transformers import BitsAndBytesConfig\n"
            "q = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type='nf4')\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "import diffusers as d\nq = d.BitsAndBytesConfig(load_in_8bit=True)\n",
            lines=(2,),
        ),
        Case(
            "from transformers import AwqConfig\nq = None\nif args.quantize:\n"
            "    q = AwqConfig(bits=4)\n",
            lines=(4,),
            severity=Severity.WARNING,
        ),
        Case("m = AutoModelForCausalLM.from_pretrained(n, load_in_8bit=True)\n", lines=(1,)),
        Case(
            "kwargs = {'device_map': 'auto', 'load_in_4bit': True}\n"
            "m = AutoModel.from_pretrained(n, **kwargs)\n",
            lines=(1,),
        ),
        Case("llm = LLM(model=name, quantization='awq')\n", lines=(1,), severity=Severity.ERROR),
        Case(
            '{"model_type": "llama",\n "quantization_config": {"quant_method": "gptq"}}\n',
            filename="config.json",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            '{"model_type": "gpt_oss",\n "quantization_config": {"quant_method": "mxfp4"}}\n',
            filename="config.json",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "base_model: m\nload_in_8bit: true\nload_in_4bit: false\n",
            filename="qlora.yaml",
            lines=(2,),
        ),
        Case("vllm serve m --quantization gptq\n", filename="serve.sh", lines=(1,)),
    ),
)


@RULE.call(*(f"{root}.{name}" for name in _CLASSES for root in ("transformers", "diffusers")))
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find configs of quantisation in code."""
    last = name.rpartition(".")[2]
    off = [k for k in call.keywords if k.arg in _SWITCHES]
    if last == "BitsAndBytesConfig" and off and not any(roles.is_on(module, k.value) for k in off):
        return
    wished = roles.guarded(module, call, _WISHED)
    yield module.hit(
        call,
        f"`{last}` {_CLASSES[last]}",
        _ADVICE,
        severity=Severity.WARNING if wished else _severity(_CLASSES[last]),
        cause=last,
    )


@RULE.module
def check_switch(module: Module) -> Iterator[Hit]:
    """Find ``load_in_4bit=True`` and its like, as arguments and in dicts."""
    for name in _SWITCHES:
        for place, _, keyword in roles.enabled(module, name):
            if keyword is None or roles.callee(module, keyword) != "BitsAndBytesConfig":
                yield module.hit(
                    keyword or place, f"`{name}` needs bitsandbytes, which {_RAISES}", _ADVICE
                )


@RULE.keyword("quantization", "quant_method")
def check_keyword(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find methods given by name, as to vLLM's ``LLM``."""
    value = keyword.value
    text = value.value if isinstance(value, ast.Constant) else None
    if isinstance(text, str) and text in _METHODS and text != "fp8":
        yield module.hit(
            keyword, f"`{text}` {_METHODS[text]}", _ADVICE, severity=_severity(_METHODS[text])
        )


@RULE.document("json", "yaml")
def check_document(document: Document) -> Iterator[Hit]:
    """Find quantised checkpoints and switches in configs."""
    for entry in document.entries:
        effect = _METHODS.get(entry.text()) if entry.key == "quant_method" else None
        if effect:
            yield document.hit(
                entry.span,
                f"`{entry.value}` {effect}",
                _ADVICE,
                severity=_severity(effect),
            )
        elif (entry.key in _SWITCHES and entry.value is True) or (
            entry.key == "quantization_bit" and entry.value in (4, 8)
        ):
            yield document.hit(
                entry.key_span or entry.span,
                f"`{entry.key}` needs bitsandbytes, which {_RAISES}",
                _ADVICE,
            )


@RULE.document("shell", "dockerfile", "makefile")
def check_command(document: Document) -> Iterator[Hit]:
    """Find methods in options of servers."""
    for command in document.commands:
        word = command.option("--quantization", "-q", "--quantize")
        effect = _METHODS.get(word.text.lower()) if word is not None else None
        if word is not None and effect == _RAISES:
            yield document.hit(word.span, f"`{word.text}` {effect}", _ADVICE)


def _severity(effect: str) -> Severity:
    return Severity.ERROR if effect == _RAISES else Severity.WARNING
