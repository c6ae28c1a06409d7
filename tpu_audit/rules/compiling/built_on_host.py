"""TPA510: a checkpoint built in the host's memory and moved."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.rule import Case, Docs, Rule, Stability
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_MODELS = ("Auto", "Model", "ForCausalLM", "Pipeline", "ForConditionalGeneration")
_NOT_MODELS = ("Tokenizer", "Processor", "Config", "FeatureExtractor")

RULE = Rule(
    code="TPA510",
    name="built-on-host",
    severity=Severity.INFO,
    stability=Stability.PREVIEW,
    words=("from_pretrained",),
    in_tests=None,
    docs=Docs(
        what="Finds `from_pretrained(...).to(device)`.",
        why="The whole model passes through the host's memory, and with one process a chip every "
        "process holds a copy: large models run out of it.",
        example="model = AutoModelForCausalLM.from_pretrained(name).to(device)",
        instead="with torch.device(device):\n"
        "    model = AutoModelForCausalLM.from_pretrained(name)",
        references=("https://docs.pytorch.org/docs/stable/tensor_attributes.html",),
    ),
    valid=(
        Case("m = AutoModel.from_pretrained(name, device_map=device)\n"),
        Case("t = AutoTokenizer.from_pretrained(name).to(device)\n"),
        Case('m = AutoModel.from_pretrained(name).to("cpu")\n'),
        Case("m = AutoModel.from_pretrained(name)\nx = x.to(device)\n"),
    ),
    invalid=(
        Case("m = AutoModelForCausalLM.from_pretrained(name).to(device)\n", lines=(1,)),
        Case("m = BertModel.from_pretrained(name, dtype=d).eval().to(device)\n", lines=(1,)),
        Case(
            "from diffusers import DiffusionPipeline as P\n"
            "pipe = P.from_pretrained(name)\npipe = pipe.to(device)\n",
            lines=(3,),
        ),
    ),
)


@RULE.method("to")
def check(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find moves of what was just loaded."""
    made = _made(receiver, module)
    if made is None or not call.args or keyword(made, "device_map") is not None:
        return
    values = module.value(call.args[0])
    if not module.is_device(call.args[0]) or "cpu" in values.strings():
        return
    yield module.hit(
        call,
        "the model is built whole in the host's memory of every process before it moves to the TPU",
        "load it on the device, or sharded",
        span=module.method_span(call),
    )


def _made(node: ast.expr, module: Module) -> ast.Call | None:
    """Return the call that loaded a model, through ``.eval()`` and a variable."""
    if isinstance(node, ast.Name):
        values = [binding.value for binding in module.scopes.bindings(node)]
        node = values[0] if len(values) == 1 and values[0] is not None else node
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "from_pretrained":
            return node if _is_model(node.func.value, module) else None
        node = node.func.value
    return None


def _is_model(owner: ast.expr, module: Module) -> bool:
    names = {*module.qualified(owner), getattr(owner, "id", "")}
    words = {name.rpartition(".")[2] for name in names}
    return any(part in w for w in words for part in _MODELS) and not any(
        part in w for w in words for part in _NOT_MODELS
    )
