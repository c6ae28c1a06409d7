"""TPA114: a model placed by ``device_map`` on CUDA, or on several devices."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.devices.literals import is_foreign
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.devices import is_cuda
from tpu_audit.rules.python.dicts import items
from tpu_audit.rules.python.possible import Via
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_DEVICE = 'torch.accelerator.current_accelerator() or torch.device("cpu")'
_SPREAD = frozenset({"sequential", "balanced", "balanced_low_0"})
_RANK = re.compile(r"rank|process_index|gpu|current_device|device_id", re.IGNORECASE)
_OVERRIDDEN = frozenset({Via.DEFAULT, Via.FIELD, Via.OPTION})
_ADVICE = "give the accelerator's device as `device_map`"

RULE = Rule(
    code="TPA114",
    name="cuda-device-map",
    severity=Severity.ERROR,
    words=("device_map", "max_memory"),
    docs=Docs(
        what='Finds `device_map="cuda"`, `{"": "cuda:0"}`, `{"": local_rank}`, `"sequential"`, '
        '`"balanced"` and maps or `max_memory` with several devices.',
        why="PyTorch for TPUs is built without CUDA, and a process on a TPU sees one device: "
        "weights cannot be put on CUDA or on a second index.",
        example='model = AutoModel.from_pretrained(name, device_map="cuda")',
        instead='device = torch.accelerator.current_accelerator() or torch.device("cpu")\n'
        "model = AutoModel.from_pretrained(name, device_map=device)",
        fix_safety="Unsafe: the index is dropped, and a host without an accelerator loads to the "
        "CPU.",
        references=(
            "https://huggingface.co/docs/accelerate/concept_guides/big_model_inference",
            "https://docs.pytorch.org/docs/stable/accelerator.html",
        ),
    ),
    valid=(
        Case('m = AutoModel.from_pretrained(n, device_map="auto")\n'),
        Case('m = AutoModel.from_pretrained(n, device_map={"": "cpu"})\n'),
        Case("m = AutoModel.from_pretrained(n, device_map=device_map)\n"),
        Case('print(f"device_map {device_map}")\nif device_map == "cuda":\n    pass\n'),
        Case(
            "import torch\nm = load(n, device_map='cuda' if torch.cuda.is_available() else None)\n"
        ),
        Case("device_map: auto\nmax_memory: {cpu: 10GiB}\n", filename="model.yaml"),
    ),
    invalid=(
        Case(
            'import torch\nm = AutoModel.from_pretrained(n, device_map="cuda")\n',
            lines=(2,),
            columns=(45,),
            fixed=f"import torch\nm = AutoModel.from_pretrained(n, device_map={_DEVICE})\n",
        ),
        Case(
            "import torch\nm = Net.from_pretrained(n, device_map={'': f'cuda:{rank}'})\n",
            lines=(2,),
            fixed=f"import torch\nm = Net.from_pretrained(n, device_map={_DEVICE})\n",
        ),
        Case(
            "from torch import cuda\n"
            "m = Net.from_pretrained(n, device_map={'': cuda.current_device()})\n",
            lines=(2,),
        ),
        Case(
            'm = Net.from_pretrained(n, device_map={"a": 0, "b": 1})\n',
            lines=(1,),
        ),
        Case(
            'm = Net.from_pretrained(n, device_map="balanced")\n',
            lines=(1,),
            severity=Severity.WARNING,
        ),
        Case(
            'm = Net.from_pretrained(n, device_map={"": 0})\n',
            lines=(1,),
            severity=Severity.INFO,
        ),
        Case(
            'm = load(n, max_memory={0: "20GiB", 1: "20GiB", "cpu": "60GiB"})\n',
            lines=(1,),
            severity=Severity.WARNING,
        ),
        Case('kwargs = {"device_map": "cuda:0"}\nm = load(n, **kwargs)\n', lines=(1,)),
        Case("model:\n  device_map: cuda:1\n", filename="model.yaml", lines=(2,)),
    ),
)


@RULE.keyword("device_map")
def check_keyword(argument: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find ``f(device_map=...)``."""
    yield from _judge(argument.value, module)


@RULE.node(ast.Dict)
def check_entry(literal: ast.Dict, module: Module) -> Iterator[Hit]:
    """Find ``{"device_map": ...}``, keyword arguments kept in a dict."""
    for key, value in items(literal):
        if getattr(key, "value", None) == "device_map":
            yield from _judge(value, module)


@RULE.keyword("max_memory")
def check_memory(argument: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find limits for a second device."""
    literal = module.dicts.display(argument.value)
    indices = [getattr(key, "value", None) for key in literal.keys] if literal else []
    if literal and any(type(index) is int and index > 0 for index in indices):
        yield module.hit(
            literal,
            "a process on a TPU sees one device: a limit for another index is refused",
            "shard the model over processes",
            severity=Severity.WARNING,
        )


@RULE.document("yaml", "json", "toml")
def check_document(document: Document) -> Iterator[Hit]:
    """Find ``device_map`` in config files."""
    for entry in document.keyed("device_map"):
        text = entry.text()
        if text.partition(":")[0] == "cuda" or text in _SPREAD:
            yield document.hit(
                entry.span,
                f"`device_map` {text} cannot be met on a TPU",
                "write `auto`, or leave it out",
                severity=Severity.WARNING,
            )


def _judge(node: ast.expr, module: Module) -> Iterator[Hit]:
    if is_foreign(module) or module.reach(node).dead:
        return
    literal = module.dicts.display(node)
    if literal is not None:
        yield from _judge_map(literal, module)
        return
    for possible in module.value(node):
        if is_cuda(possible) and not module.reach(possible.node).dead:
            yield module.hit(
                node,
                "a model cannot be placed on CUDA on a TPU host",
                _ADVICE,
                severity=Severity.WARNING if possible.via in _OVERRIDDEN else None,
                fix=_fix(node, module),
            )
        elif possible.value in _SPREAD:
            yield module.hit(
                node,
                f'"{possible.value}" spreads a model over devices; a process on a TPU sees one',
                _ADVICE,
                severity=Severity.WARNING,
            )


def _judge_map(literal: ast.Dict, module: Module) -> Iterator[Hit]:
    values = literal.values
    whole = len(values) == 1 and all(getattr(k, "value", None) == "" for k in literal.keys)
    fix = _fix(literal, module) if whole else None
    numbers = {p.value for v in values for p in module.value(v) if type(p.value) is int}
    if any(is_cuda(p) for value in values for p in module.value(value)) or any(
        _is_current(value, module) for value in values
    ):
        yield module.hit(
            literal, "a model cannot be placed on CUDA on a TPU host", _ADVICE, fix=fix
        )
    elif any(number > 0 for number in numbers):
        yield module.hit(
            literal, "a process on a TPU sees one device: an index above 0 is refused", _ADVICE
        )
    elif any(map(_is_rank, values)):
        yield module.hit(
            literal,
            "a process on a TPU sees one device: a rank above 0 is no index there",
            _ADVICE,
            severity=Severity.WARNING,
            fix=fix,
        )
    elif numbers:
        yield module.hit(
            literal,
            "the number 0 means the accelerator's first device, on a TPU too",
            _ADVICE,
            severity=Severity.INFO,
        )


def _is_current(node: ast.expr, module: Module) -> bool:
    return isinstance(node, ast.Call) and module.is_named(node.func, "torch.cuda.current_device")


def _is_rank(node: ast.expr) -> bool:
    callee = node.func if isinstance(node, ast.Call) else node
    return _RANK.search(str(getattr(callee, "attr", getattr(callee, "id", "")))) is not None


def _fix(node: ast.expr, module: Module) -> Fix | None:
    """Write the accelerator's device over a value that stands at its place."""
    parent = module.parent(node)
    if not isinstance(parent, ast.keyword) or isinstance(node, ast.Name | ast.Attribute):
        return None
    text = repair.fitted(module, node, repair.device(module))
    return repair.fix(module, Applicability.UNSAFE, module.edit(node, text))
