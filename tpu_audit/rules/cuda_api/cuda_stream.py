"""TPA207: CUDA streams and events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api import symbol_text
from tpu_audit.rules.cuda_api.device_module import is_of_device_module
from tpu_audit.rules.cuda_api.roles import is_probed, is_told
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.table import cuda_symbols, names_of
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_NAMES = names_of("TPA207")
_ADVICE = {
    "Event": "time with `time.perf_counter()` around `torch.accelerator.synchronize()`",
    "current_stream": "wait with `torch.accelerator.synchronize()`",
}
_ENQUEUED = "leave it out: a TPU runs what is enqueued in order"

RULE = Rule(
    code="TPA207",
    name="cuda-stream",
    severity=Severity.ERROR,
    words=("cuda", "record_stream"),
    docs=Docs(
        what="Finds streams and events of `torch.cuda`, and `Tensor.record_stream`.",
        why="Making a CUDA stream or event raises where CUDA is absent, and TPUs have no kernel "
        "for `record_stream`. The streams of `torch.tpu` are placeholders: the compiler overlaps "
        "copies and computation by itself.",
        example="side = torch.cuda.Stream()\nwith torch.cuda.stream(side):\n"
        "    y = copy(x)\ntorch.cuda.current_stream().wait_stream(side)",
        instead="y = copy(x)",
        references=(
            "https://docs.pytorch.org/docs/stable/accelerator.html",
            "https://docs.pytorch.org/docs/stable/notes/cuda.html",
        ),
    ),
    valid=(
        Case(
            "class Data:\n    def record_stream(self, stream):\n"
            "        return self.apply(lambda x: x.record_stream(stream))\n"
        ),
        Case("import torch\ntorch.accelerator.current_stream().synchronize()\n"),
        Case("import torch\ndef wait(stream: torch.cuda.Stream | None) -> None:\n    ...\n"),
        Case("from threading import Event\ndone = Event()\ndone.wait()\n"),
        Case("import torch\nok = isinstance(s, torch.cuda.Stream)\n"),
        Case("import torch\nStreams = list[torch.cuda.Stream]\n"),
        Case("import cupy as cp\nwith cp.cuda.Stream():\n    pass\n"),
        Case(
            "import torch\ndef start(device):\n    if device.type == 'cuda':\n"
            "        return torch.cuda.Stream()\n"
        ),
    ),
    invalid=(
        Case("import torch\nside = torch.cuda.Stream(priority=-1)\n", lines=(2,)),
        Case(
            "from torch import cuda\nbegin, end = (cuda.Event(enable_timing=True) for _ in 'ab')\n",
            lines=(2,),
        ),
        Case(
            "import torch\nclass Feed:\n    def next(self):\n"
            "        torch.cuda.current_stream().wait_stream(self.side)\n"
            "        self.x.record_stream(self.side)\n",
            lines=(4, 5),
        ),
        Case(
            "import torch\nwith torch.cuda.stream(side):\n    x = x + 1\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "import torch\nmod = None\nif torch.cuda.is_available():\n    mod = torch.cuda\n"
            "if mod is not None:\n    s = mod.Stream()\n",
            lines=(6,),
            severity=Severity.INFO,
        ),
    ),
)


@RULE.call(*_NAMES)
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find the calls; names of the classes alone do no harm."""
    symbol = cuda_symbols()[name]
    word = name.rpartition(".")[2]
    if is_probed(call.func, word, module) or is_of_device_module(call.func, module):
        return
    severity = symbol_text.severity(symbol, call, module)
    quiet = is_told(call, module)
    yield module.hit(
        call.func,
        symbol_text.message(symbol, symbol.name),
        _ADVICE.get(word, _ENQUEUED),
        severity=Severity.WARNING if severity is Severity.INFO and not quiet else severity,
    )


@RULE.method("record_stream")
def check_record(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find ``tensor.record_stream(stream)``."""
    function = module.context(call).function
    passed_on = function is not None and function.name == "record_stream"
    if len(call.args) == 1 and not passed_on and not module.is_imported(receiver):
        yield module.hit(
            call,
            "TPUs have no kernel for `record_stream`: it raises for a tensor there",
            _ENQUEUED,
            span=module.method_span(call),
        )
