"""TPA703: checkpoints loaded in float16."""

from __future__ import annotations

import ast
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

_MAKERS = frozenset(
    {
        *("from_pretrained", "from_config", "from_single_file", "pipeline", "from_pipe"),
        *("load_checkpoint_and_dispatch", "SentenceTransformer", "LLM", "Engine"),
    }
)
_TEXTS = frozenset({"float16", "fp16", "half", "torch.float16", "torch.half"})
_EFFECT = (
    "float16 is computed as bfloat16 on a TPU, in a narrower range, and without flash attention"
)
_ADVICE = "load in bfloat16"

RULE = Rule(
    code="TPA703",
    name="float16-checkpoint",
    severity=Severity.WARNING,
    words=("float16", "half", "fp16"),
    docs=Docs(
        what="Finds models that are loaded in float16: `dtype` or `torch_dtype` of "
        "`from_pretrained` and its like, the dtype in `config.json`, and `torch_dtype` of configs.",
        why="The matrix unit of a TPU takes bfloat16: float16 inputs are rounded to it, while "
        "values between stay in the narrow range of float16 and may overflow. Flash attention on "
        "TPUs takes bfloat16 and float32 only.",
        example="model = AutoModel.from_pretrained(name, dtype=torch.float16)",
        instead="model = AutoModel.from_pretrained(name, dtype=torch.bfloat16)",
        fix_safety="Unsafe: bfloat16 has three bits less of precision, and old GPUs compute it "
        "slowly.",
        references=(
            "https://huggingface.co/docs/transformers/main_classes/model",
            "https://cloud.google.com/tpu/docs/bfloat16",
        ),
    ),
    valid=(
        Case("import torch\nm = AutoModel.from_pretrained(n, dtype=torch.bfloat16)\n"),
        Case(
            "import torch\nd = torch.float16 if torch.cuda.is_available() else torch.float32\n"
            "m = AutoModel.from_pretrained(n, torch_dtype=d)\n"
        ),
        Case(
            "import torch\nm = AutoModel.from_pretrained(\n    n,\n"
            "    torch_dtype=torch.float16 if torch.cuda.is_available() else torch.float32)\n"
        ),
        Case(
            "import torch\nm = AutoModel.from_pretrained(\n"
            "    n, dtype=torch.float16 if args.half else torch.bfloat16)\n"
        ),
        Case("import torch\nx = torch.zeros(2, dtype=torch.float16)\n"),
        Case('{"model_type": "llama", "torch_dtype": "bfloat16"}\n', filename="config.json"),
        Case('{"dtype": "float16", "name": "table"}\n', filename="data.json"),
    ),
    invalid=(
        Case(
            "import torch\nm = AutoModel.from_pretrained(n, torch_dtype=torch.float16)\n",
            lines=(2,),
            columns=(46,),
            fixed="import torch\nm = AutoModel.from_pretrained(n, torch_dtype=torch.bfloat16)\n",
        ),
        Case(
            "import torch as t\nfrom transformers import pipeline\n"
            "p = pipeline('text-generation', model=n, dtype=t.half)\n",
            lines=(3,),
            fixed="import torch as t\nfrom transformers import pipeline\n"
            "p = pipeline('text-generation', model=n, dtype=t.bfloat16)\n",
        ),
        Case(
            "m = AutoModel.from_pretrained(n, dtype='float16')\n",
            lines=(1,),
            fixed="m = AutoModel.from_pretrained(n, dtype='bfloat16')\n",
        ),
        Case(
            "import torch\nk = {'torch_dtype': torch.float16, 'device_map': 'auto'}\n",
            lines=(2,),
            fixed="import torch\nk = {'torch_dtype': torch.bfloat16, 'device_map': 'auto'}\n",
        ),
        Case(
            '{"model_type": "llama",\n "torch_dtype": "float16"}\n',
            filename="config.json",
            lines=(2,),
            fixed='{"model_type": "llama",\n "torch_dtype": "bfloat16"}\n',
        ),
        Case(
            "model:\n  name: m\n  torch_dtype: float16\n",
            filename="run.yaml",
            lines=(3,),
            fixed="model:\n  name: m\n  torch_dtype: bfloat16\n",
        ),
        Case("vllm serve m --dtype half\n", filename="serve.sh", lines=(1,)),
    ),
)


@RULE.keyword("dtype", "torch_dtype")
def check(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find dtypes of loaded models."""
    if roles.callee(module, keyword) in _MAKERS:
        yield from _found(keyword.value, module)


@RULE.string("torch_dtype")
def check_entry(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find ``{"torch_dtype": torch.float16}``."""
    if constant.value == "torch_dtype" and (value := roles.entry(module, constant)) is not None:
        yield from _found(value, module)


def _found(value: ast.expr, module: Module) -> Iterator[Hit]:
    """Find float16 where it stands in the value itself; a variable is another rule's."""
    for node in _arms(value, module):
        text = node.value if isinstance(node, ast.Constant) else None
        if text in _TEXTS:
            edit = roles.text_edit(module, node, "bfloat16")
        elif module.is_named(node, "torch.float16", "torch.half") and isinstance(
            node, ast.Attribute
        ):
            edit = module.edit(node, f"{module.code(node.value)}.bfloat16")
        else:
            continue
        yield module.hit(node, _EFFECT, _ADVICE, fix=repair.fix(module, Applicability.UNSAFE, edit))


def _arms(node: ast.expr, module: Module) -> list[ast.expr]:
    """Return what a choice by device may be; a choice by option is the user's own."""
    if not isinstance(node, ast.IfExp):
        return [node]
    truth = module.truth(node.test)
    return [] if truth is None else _arms(node.body if truth else node.orelse, module)


@RULE.document("hf-config", "yaml", "toml")
def check_document(document: Document) -> Iterator[Hit]:
    """Find the dtype of a checkpoint's config, and ``torch_dtype`` in configs of runs."""
    checkpoint = "hf-config" in document.flavours
    for entry in document.entries:
        top = entry.keys in {("torch_dtype",), ("dtype",)}
        named = top if checkpoint else entry.key == "torch_dtype"
        if named and entry.text() in _TEXTS:
            quote = document.source.slice(entry.span)[:1]
            quote = quote if quote in {'"', "'"} else ""
            yield document.hit(
                entry.span,
                _EFFECT,
                _ADVICE,
                fix=document.replace(entry.span, f"{quote}bfloat16{quote}", Applicability.UNSAFE),
            )


@RULE.document("shell", "dockerfile", "makefile")
def check_command(document: Document) -> Iterator[Hit]:
    """Find ``--dtype half`` of servers and trainers."""
    for command in document.commands:
        word = command.option("--dtype", "--torch_dtype", "--torch-dtype")
        if word is not None and word.text in _TEXTS:
            yield document.hit(word.span, _EFFECT, _ADVICE)
