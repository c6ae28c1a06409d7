"""TPA708: settings of FSDP that are made for CUDA."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.huggingface import roles
from tpu_audit.rules.huggingface.trainers import ACCELERATE
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_STREAMS = "orders CUDA streams: it has no effect on a TPU"
_NAMES = {
    "forward_prefetch": _STREAMS,
    "backward_prefetch": _STREAMS,
    "backward_prefetch_policy": _STREAMS,
    "limit_all_gathers": _STREAMS,
}
_FIRST = "the first FSDP works with CUDA streams: TorchTPU supports FSDP2"
_ADVICE = "leave it out, and use FSDP2 (`fsdp_version: 2`, `fully_shard`)"

RULE = Rule(
    code="TPA708",
    name="fsdp-for-cuda",
    severity=Severity.WARNING,
    words=(
        *("fsdp_config", "FullyShardedDataParallelPlugin", "fsdp_version"),
        *("fsdp_backward_prefetch", "fsdp_forward_prefetch", "fsdp_backward_prefetch_policy"),
        *("FullyShardedDataParallel", "fsdp_limit_all_gathers"),
    ),
    docs=Docs(
        what="Finds settings of FSDP that order CUDA streams (`forward_prefetch`, "
        "`backward_prefetch`, `limit_all_gathers`), and the first version of FSDP.",
        why="A TPU has no streams to order: the compiler places collectives itself. TorchTPU "
        "supports FSDP2.",
        example='fsdp_config = {"fsdp_version": 1, "backward_prefetch": "backward_pre"}',
        instead='fsdp_config = {"fsdp_version": 2}',
        references=(
            ACCELERATE,
            "https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html",
        ),
    ),
    valid=(
        Case("from torch.distributed.fsdp import fully_shard\nfully_shard(model)\n"),
        Case("args = TrainingArguments('o', fsdp_config={'fsdp_version': 2})\n"),
        Case("fsdp_config:\n  fsdp_version: 2\ndistributed_type: FSDP\n", filename="a.yaml"),
        Case("loader = Loader(forward_prefetch=True)  # no fsdp_config here\n"),
    ),
    invalid=(
        Case(
            "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\n"
            "model = FSDP(model, limit_all_gathers=True)\n",
            lines=(2, 2),
        ),
        Case(
            "args = TrainingArguments('o', fsdp_config={'backward_prefetch': 'backward_pre'})\n",
            lines=(1,),
        ),
        Case(
            "distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 1\n"
            "  fsdp_backward_prefetch: BACKWARD_PRE\n",
            filename="fsdp.yaml",
            lines=(3, 4),
        ),
    ),
)


@RULE.call("torch.distributed.fsdp.FullyShardedDataParallel")
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find the first FSDP and its settings of streams."""
    last = name.rpartition(".")[2]
    yield module.hit(
        call.func, f"`{last}`: {_FIRST}", _ADVICE, severity=Severity.INFO, cause=_FIRST
    )
    for keyword in call.keywords:
        if keyword.arg in _NAMES:
            yield module.hit(keyword, f"`{keyword.arg}` {_STREAMS}", _ADVICE, cause=_STREAMS)


@RULE.call("accelerate.FullyShardedDataParallelPlugin")
def check_plugin(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find settings of accelerate's plugin."""
    del name
    for keyword in call.keywords:
        if keyword.arg in _NAMES:
            yield module.hit(keyword, f"`{keyword.arg}` {_STREAMS}", _ADVICE, cause=_STREAMS)


@RULE.string("prefetch", "limit_all_gathers")
def check_entry(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find settings in a dict given as ``fsdp_config``."""
    holder = module.parent(constant)
    name = str(constant.value).removeprefix("fsdp_")
    if name not in _NAMES or not isinstance(holder, ast.Dict) or constant not in holder.keys:
        return
    if roles.role(module, holder) == "fsdp_config":
        yield module.hit(constant, f"`{name}` {_STREAMS}", _ADVICE, cause=_STREAMS)


@RULE.document("accelerate", "training-arguments", "json")
def check_document(document: Document) -> Iterator[Hit]:
    """Find settings in configs."""
    for entry in document.entries:
        name = str(entry.key).removeprefix("fsdp_")
        inside = "fsdp_config" in entry.keys[:-1]
        if inside and name in _NAMES and entry.text() not in {"false", "", "no_prefetch", "none"}:
            yield document.hit(
                entry.key_span or entry.span, f"`{entry.key}` {_STREAMS}", _ADVICE, cause=_STREAMS
            )
        elif inside and entry.key == "fsdp_version" and entry.text() == "1":
            yield document.hit(entry.span, _FIRST, _ADVICE, severity=Severity.INFO, cause=_FIRST)
