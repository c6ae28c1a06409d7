"""TPA704: models that bring code of their own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.huggingface import roles
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_ADVICE = (
    "check the repository of the model, too: `tpu-audit scan` reads its code without running it"
)

RULE = Rule(
    code="TPA704",
    name="remote-code",
    severity=Severity.INFO,
    words=("auto_map", "trust_remote_code", "custom_pipeline"),
    docs=Docs(
        what="Finds models whose code comes from their own repository: `auto_map` in "
        "`config.json`, and `trust_remote_code=True`.",
        why="Such code is often written for CUDA, and transformers' support of TPUs does not reach "
        "it.",
        example="model = AutoModel.from_pretrained(name, trust_remote_code=True)",
        instead="model = AutoModel.from_pretrained(name)  # where transformers has the model",
        references=("https://huggingface.co/docs/transformers/custom_models",),
    ),
    valid=(
        Case("m = AutoModel.from_pretrained(n, trust_remote_code=False)\n"),
        Case("def load(n, trust_remote_code):\n    f(n, trust_remote_code=trust_remote_code)\n"),
        Case(
            '{"model_type": "llama", "architectures": ["LlamaForCausalLM"]}\n',
            filename="config.json",
        ),
        Case("auto_map = {}\n"),
        Case("from kernels import get_kernel\nk = get_kernel(n, trust_remote_code=True)\n"),
        Case("from kernels import LayerRepository as L\nk = L(n, trust_remote_code=True)\n"),
        Case("rows = load_dataset(n, trust_remote_code=True)\n"),
        Case("import datasets\nkw = dict(trust_remote_code=True)\n"),
    ),
    invalid=(
        Case(
            "m = AutoModel.from_pretrained(n, trust_remote_code=True)\n",
            lines=(1,),
            severity=Severity.INFO,
        ),
        Case("kw = dict(trust_remote_code=True)\n", lines=(1,)),
        Case(
            "trust = True\ntok = AutoTokenizer.from_pretrained(n, trust_remote_code=trust)\n",
            lines=(2,),
        ),
        Case(
            '{"model_type": "own",\n "auto_map": {"AutoModel": "modeling_own.Own"}}\n',
            filename="config.json",
            lines=(2,),
            severity=Severity.INFO,
        ),
    ),
)


@RULE.keyword("trust_remote_code")
def check(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find models that may run their own code; scripts of data sets and kernels are not theirs."""
    if roles.is_on(module, keyword.value) and not _is_of_others(keyword, module):
        yield module.hit(
            keyword, "the model's own code runs here: it may be written for CUDA", _ADVICE
        )


def _is_of_others(keyword: ast.keyword, module: Module) -> bool:
    """Tell an argument of ``load_dataset`` or ``get_kernel``, or one in a file on data sets."""
    call = module.parent(keyword)
    callee = call.func if isinstance(call, ast.Call) else keyword.value
    word = getattr(callee, "attr", getattr(callee, "id", ""))
    packages = {name.partition(".")[0] for _, names in module.imported for name in names}
    kept = word == "dict" and "datasets" in packages and "transformers" not in packages
    kernels = isinstance(call, ast.Call) and module.is_named(call.func, "kernels.*")
    return kept or kernels or "dataset" in word or "kernel" in word


@RULE.document("hf-config")
def check_document(document: Document) -> Iterator[Hit]:
    """Find configs that name code of the repository."""
    for entry in document.entries:
        if entry.keys == ("auto_map",) and entry.key_span is not None:
            yield document.hit(
                entry.key_span, "the model brings its own code: it may be written for CUDA", _ADVICE
            )
