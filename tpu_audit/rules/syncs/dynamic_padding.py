"""TPA408: batches padded to the longest of their texts."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.arguments import appended
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_TOKENIZER = re.compile(r"(?:^|_)tok(?:enizer|eniser)?$|Tokenizer$")
_METHODS = frozenset({"batch_encode_plus", "encode_plus", "pad", "apply_chat_template"})
_COLLATORS = (
    *("DataCollatorWithPadding", "DataCollatorForSeq2Seq", "DataCollatorForTokenClassification"),
    *("DataCollatorForLanguageModeling", "DataCollatorForMultipleChoice"),
)
_FIXED_SIZE = frozenset({"max_length"})
_EACH_BATCH = re.compile(r"collat|batch|tokeni[sz]e|preprocess|forward|_step")
"""Functions that are called for each batch, by name."""

RULE = Rule(
    code="TPA408",
    name="dynamic-padding",
    severity=Severity.WARNING,
    words=("padding", "pad_sequence", *_COLLATORS, "drop_last", "DataLoader"),
    in_tests=None,
    docs=Docs(
        what='Finds tokenizers with `padding=True` or `"longest"` without `pad_to_multiple_of` '
        "where batches are made, and data collators without it. Training loaders that keep a "
        "short last batch, and single calls, are worth a note.",
        why="Each new length is a new shape: eager kernels and graphs are compiled anew for it, "
        "seconds each.",
        example="batch = tokenizer(texts, padding=True, return_tensors='pt')",
        instead="batch = tokenizer(texts, padding=True, pad_to_multiple_of=128, "
        "return_tensors='pt')",
        fix_safety="Unsafe: more padding costs time on other devices, and lengths above a model's "
        "limit are possible.",
        references=(
            "https://huggingface.co/docs/transformers/pad_truncation",
            "https://github.com/pytorch/xla/blob/master/docs/source/learn/troubleshoot.md",
        ),
    ),
    valid=(
        Case("def collate(b):\n    return tokenizer(b, padding='max_length', max_length=128)\n"),
        Case("def collate(b):\n    return tokenizer(b, padding=True, pad_to_multiple_of=64)\n"),
        Case("def tokenize(t):\n    untruncated_ids = tokenizer(t, padding='longest').input_ids\n"),
        Case("conv = Conv2d(3, 3, 3, padding=True)\nlayout(padding='longest')\n"),
        Case("collator = DataCollatorWithPadding(tok, pad_to_multiple_of=8)\n"),
        Case("import torch\nval = torch.utils.data.DataLoader(ds, batch_size=8)\n"),
    ),
    invalid=(
        Case(
            "def collate(batch):\n    return tokenizer(batch, padding=True)\n",
            lines=(2,),
            columns=(29,),
            fixed="def collate(batch):\n"
            "    return tokenizer(batch, padding=True, pad_to_multiple_of=128)\n",
            severity=Severity.WARNING,
        ),
        Case(
            "for texts in batches:\n    x = self.tokenizer(texts, padding='longest', "
            "return_tensors='pt')\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "from transformers import DataCollatorWithPadding as Pad\ncollator = Pad(tok)\n",
            lines=(2,),
            fixed="from transformers import DataCollatorWithPadding as Pad\n"
            "collator = Pad(tok, pad_to_multiple_of=128)\n",
        ),
        Case(
            "x = tokenizer(prompts, return_tensors='pt', padding=True)\n",
            lines=(1,),
            severity=Severity.INFO,
        ),
        Case(
            "from torch.utils.data import DataLoader\n"
            "train = DataLoader(ds, batch_size=32, shuffle=True, drop_last=False)\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "from torch.nn.utils.rnn import pad_sequence\n"
            "def collate(batch):\n    return pad_sequence(batch, batch_first=True)\n",
            lines=(3,),
            severity=Severity.WARNING,
        ),
        Case(
            "from torch.utils.data import DataLoader\n"
            "train = DataLoader(ds, batch_size=32, shuffle=True)\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
    ),
)


@RULE.keyword("padding")
def tokenizers(argument: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find tokenizers that pad to the longest."""
    call = module.parent(argument)
    if not isinstance(call, ast.Call) or not _is_tokenizer(call) or _is_multiple(call):
        return
    if _is_measured(call, module):
        return
    longest = any(p.value is True or p.value == "longest" for p in module.value(argument.value))
    if longest:
        each = _is_each_batch(call, module)
        yield _hit(argument, call, module, None if each else Severity.INFO)


@RULE.call(*(f"transformers.{name}" for name in _COLLATORS))
def collators(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find collators that pad to the longest."""
    fixed = {p.value for k in call.keywords if k.arg == "padding" for p in module.value(k.value)}
    if not _is_multiple(call) and not fixed & (_FIXED_SIZE | {False}):
        del name
        yield _hit(call, call, module, None)


@RULE.call("torch.utils.data.DataLoader")
def loaders(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find training loaders with a short last batch."""
    del name
    shuffle, last = keyword(call, "shuffle"), keyword(call, "drop_last")
    shuffles = isinstance(shuffle, ast.Constant) and shuffle.value is True
    sized = keyword(call, "batch_size") is not None or len(call.args) > 1
    keeps = last is None or (isinstance(last, ast.Constant) and last.value is False)
    if shuffles and sized and keeps and keyword(call, "batch_sampler") is None:
        yield module.hit(
            call,
            "the short last batch has a shape of its own, and is compiled anew on a TPU",
            "pass `drop_last=True` for training",
            severity=Severity.INFO if last is None else None,
        )


@RULE.call("torch.nn.utils.rnn.pad_sequence")
def sequences(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find batches that collating functions pad to their longest."""
    function = module.context(call).function
    if function is not None and "collat" in function.name.lower():
        yield module.hit(
            call,
            f"`{name}` pads to the longest of a batch: each new length is compiled anew on a TPU",
            "pad to a multiple of 128, or to a fixed length",
        )


def _is_tokenizer(call: ast.Call) -> bool:
    callee = call.func
    if isinstance(callee, ast.Attribute) and callee.attr in _METHODS:
        callee = callee.value
    word = getattr(callee, "attr", getattr(callee, "id", ""))
    return _TOKENIZER.search(word) is not None


def _is_multiple(call: ast.Call) -> bool:
    """Tell whether a call says a multiple, or may through ``**``."""
    return any(k.arg in {"pad_to_multiple_of", None} for k in call.keywords)


def _is_measured(call: ast.Call, module: Module) -> bool:
    """Tell whether the texts are only counted: diffusers compares lengths to warn."""
    statement = module.statement(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(t, ast.Name) and "untruncated" in t.id for t in targets)


def _is_each_batch(call: ast.Call, module: Module) -> bool:
    context = module.context(call)
    named = context.function is not None and _EACH_BATCH.search(context.function.name.lower())
    return bool(named) or context.loop is not None


def _hit(node: ast.AST, call: ast.Call, module: Module, severity: Severity | None) -> Hit:
    return module.hit(
        node,
        "batches padded to their longest text have a new shape each, and a TPU compiles anew for "
        "each",
        "pad to a multiple of 128, or to a fixed length",
        fix=_fix(call, module),
        severity=severity,
    )


def _fix(call: ast.Call, module: Module) -> Fix | None:
    edit = appended(call, "pad_to_multiple_of=128", module)
    return None if edit is None else repair.fix(module, Applicability.UNSAFE, edit)
