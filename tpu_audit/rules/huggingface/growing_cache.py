"""TPA710: generation with a cache that grows."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.huggingface import roles
from tpu_audit.rules.python.options import keyword as argument
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_GROWING = frozenset({"dynamic", "dynamic_full", "offloaded", "quantized"})
_CACHES = (
    "DynamicCache",
    "OffloadedCache",
    "QuantizedCache",
    "QuantoQuantizedCache",
    "HQQQuantizedCache",
)
_MODELS = re.compile(r"For(CausalLM|ConditionalGeneration|Seq2SeqLM|ImageTextToText|Vision2Seq)\b")
_SET = frozenset(
    {
        *("cache_implementation", "past_key_values", "generation_config", "use_cache", "cache"),
        *("assistant_model", "sampling_params", "custom_generate"),
    }
)
_LENGTHS = frozenset(
    {"max_new_tokens", "max_length", "do_sample", "num_beams", "temperature", None}
)
_EFFECT = "its shape changes with each token: on a TPU each step compiles anew"
_ADVICE = (
    'write `cache_implementation="static"`, with which transformers compiles the decoding step'
)

RULE = Rule(
    code="TPA710",
    name="growing-cache",
    severity=Severity.WARNING,
    words=("generate", "cache_implementation", "DynamicCache"),
    docs=Docs(
        what="Finds `generate` of a transformers model with the cache that it takes by default, "
        "and caches that grow or are offloaded or quantised.",
        why="The default cache grows by one position a token, and a TPU compiles anew for each "
        "length. A static cache keeps its shape, and transformers compiles the decoding step "
        "with it.",
        example="out = model.generate(**inputs, max_new_tokens=64)",
        instead='out = model.generate(**inputs, max_new_tokens=64, cache_implementation="static")',
        references=("https://huggingface.co/docs/transformers/kv_cache",),
    ),
    valid=(
        Case(
            "from transformers import AutoModelForCausalLM\n"
            "m = AutoModelForCausalLM.from_pretrained(n)\n"
            "m.generate(**x, max_new_tokens=4, cache_implementation='static')\n"
        ),
        Case("report.generate(max_length=10)\n"),
        Case(
            "from transformers import AutoModelForCausalLM\n"
            "m = AutoModelForCausalLM.from_pretrained(n)\n"
            "m.generation_config.cache_implementation = 'static'\n"
            "m.generate(**x, max_new_tokens=4)\n"
        ),
        Case(
            "from transformers import DynamicCache\n\ndef forward(self, past=None):\n"
            "    past = DynamicCache() if past is None else past\n    return self.model(past)\n"
        ),
        Case("from vllm import LLM\nllm = LLM(n)\nllm.generate(prompts, temperature=0)\n"),
    ),
    invalid=(
        Case(
            "from transformers import AutoModelForCausalLM\n"
            "m = AutoModelForCausalLM.from_pretrained(n)\n"
            "ids = m.generate(**inputs, max_new_tokens=32)\n",
            lines=(3,),
            severity=Severity.WARNING,
        ),
        Case(
            "import transformers as hf\n\nclass Chat:\n    def __init__(self, n):\n"
            "        self.model = hf.AutoModelForSeq2SeqLM.from_pretrained(n).eval()\n\n"
            "    def __call__(self, ids):\n        return self.model.generate(ids, num_beams=4)\n",
            lines=(8,),
        ),
        Case(
            "from transformers import DynamicCache\n"
            "m.generate(ids, past_key_values=DynamicCache())\n",
            lines=(2,),
        ),
        Case("m.generate(ids, cache_implementation='offloaded')\n", lines=(1,)),
        Case(
            '{"cache_implementation": "dynamic", "max_length": 4096}\n',
            filename="generation_config.json",
            lines=(1,),
        ),
    ),
)


@RULE.method("generate")
def check(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find calls with the default cache, or one that grows."""
    cache = argument(call, "past_key_values", "cache")
    if cache is not None and isinstance(_made(cache, module), ast.Call):
        yield module.hit(cache, f"the cache grows: {_EFFECT}", _ADVICE, cause=_EFFECT)
        return
    given = {keyword.arg for keyword in call.keywords}
    if given & _SET or not given & _LENGTHS or "cache_implementation" in module.text:
        return
    if "transformers" in module.libraries.roots and _is_model(receiver, module):
        yield module.hit(
            call.func, f"`generate` takes a cache that grows: {_EFFECT}", _ADVICE, cause=_EFFECT
        )


def _made(node: ast.expr, module: Module) -> ast.Call | None:
    """Return the call that makes a growing cache; None for another value."""
    found: list[ast.expr | None] = [node]
    if isinstance(node, ast.Name):
        found = [binding.value for binding in module.scopes.bindings(node)]
    for value in found:
        if isinstance(value, ast.Call) and module.is_named(
            value.func, *(f"transformers.{name}" for name in _CACHES)
        ):
            return value
    return None


def _is_model(node: ast.expr, module: Module) -> bool:
    """Tell whether an object is made by ``...ForCausalLM.from_pretrained`` or its like."""
    made: list[ast.expr | None] = []
    if isinstance(node, ast.Name):
        made += [binding.value for binding in module.scopes.bindings(node)]
    elif isinstance(node, ast.Attribute):
        made += module.classes.stored(node)
    return any(value is not None and _MODELS.search(module.code(value)) for value in made)


@RULE.string(*_GROWING)
def check_setting(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find ``cache_implementation="dynamic"``."""
    if constant.value in _GROWING and roles.role(module, constant) == "cache_implementation":
        yield module.hit(
            constant, f"the cache `{constant.value}` grows: {_EFFECT}", _ADVICE, cause=_EFFECT
        )


@RULE.document("json")
def check_document(document: Document) -> Iterator[Hit]:
    """Find the setting in ``generation_config.json``."""
    for entry in document.keyed("cache_implementation"):
        if entry.text() in _GROWING:
            yield document.hit(
                entry.span, f"the cache `{entry.value}` grows: {_EFFECT}", _ADVICE, cause=_EFFECT
            )
