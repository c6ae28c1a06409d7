"""TPA214: forked processes that use a device."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.devices import SinkKind, is_cuda
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_CALLS = frozenset({"set_start_method", "get_context", "start_processes"})
_TAKERS = frozenset({"DataLoader", "ProcessPoolExecutor", "Pool"})
_KEYWORDS = frozenset({"method", "start_method", "multiprocessing_context", "mp_context"})
_FETCHERS = frozenset({"__getitem__", "__getitems__", "__iter__"})

RULE = Rule(
    code="TPA214",
    name="fork-start-method",
    severity=Severity.WARNING,
    words=("fork", "num_workers"),
    where_dead=None,
    docs=Docs(
        what="Finds the start method `fork` in a file that uses PyTorch, and datasets that move "
        "samples to a device while a `DataLoader` has worker processes.",
        why='A child that was forked raises "cannot access or re-initialize TPU in a forked '
        'subprocess" as soon as it uses the TPU. `DataLoader` forks its workers on Linux.',
        example='torch.multiprocessing.set_start_method("fork")',
        instead='torch.multiprocessing.set_start_method("spawn")',
        fix_safety="Unsafe: what is passed to a spawned process must be picklable, and the main "
        'module needs `if __name__ == "__main__":`.',
        references=(
            "https://docs.pytorch.org/docs/stable/notes/multiprocessing.html",
            "https://docs.pytorch.org/docs/stable/data.html",
        ),
    ),
    valid=(
        Case('import torch.multiprocessing as mp\nmp.set_start_method("spawn")\n'),
        Case('import multiprocessing\nmultiprocessing.set_start_method("fork")\n'),
        Case(
            "import torch\nfrom torch.utils.data import Dataset, DataLoader\n"
            "class Images(Dataset):\n    def __getitem__(self, i):\n"
            "        return self.x[i].to(torch.float32)\n"
            "loader = DataLoader(Images(), num_workers=4)\n"
        ),
        Case(
            "import torch\nfrom torch.utils.data import Dataset, DataLoader\n"
            "class Images(Dataset):\n    def __getitem__(self, i):\n"
            "        return self.x[i].to(self.device)\nloader = DataLoader(Images())\n"
        ),
        Case("import torch\nrepo.fork('x')\nos.fork_exec\nmode = 'fork'\n"),
    ),
    invalid=(
        Case(
            'import torch\nimport torch.multiprocessing as mp\nmp.set_start_method("fork", '
            "force=True)\n",
            lines=(3,),
            columns=(21,),
            fixed='import torch\nimport torch.multiprocessing as mp\nmp.set_start_method("spawn", '
            "force=True)\n",
        ),
        Case(
            "import torch\nimport multiprocessing\n"
            "ctx = multiprocessing.get_context(method='fork')\n",
            lines=(3,),
            fixed="import torch\nimport multiprocessing\n"
            "ctx = multiprocessing.get_context(method='spawn')\n",
        ),
        Case(
            "kw = dict(num_workers=8, multiprocessing_context='fork')\n",
            lines=(1,),
            fixed="kw = dict(num_workers=8, multiprocessing_context='spawn')\n",
        ),
        Case(
            "ctx = mp.get_context('fork')\nx = torch.ones(2)\n",
            lines=(1,),
            fixed="ctx = mp.get_context('spawn')\nx = torch.ones(2)\n",
        ),
        Case(
            "from torch.utils.data import DataLoader\n"
            'loader = DataLoader(ds, num_workers=8, multiprocessing_context="fork")\n',
            lines=(2,),
            fixed="from torch.utils.data import DataLoader\n"
            'loader = DataLoader(ds, num_workers=8, multiprocessing_context="spawn")\n',
        ),
        Case(
            "from torch.utils import data\nclass Clips(data.Dataset):\n"
            "    def __getitem__(self, i):\n        return self.x[i].to(self.device)\n"
            "loader = data.DataLoader(Clips(), num_workers=args.workers)\n",
            lines=(4,),
        ),
        Case(
            "from torch.utils.data import IterableDataset, DataLoader\n"
            "class Stream(IterableDataset):\n    def __iter__(self):\n"
            "        for row in self.rows:\n            yield row.cuda()\n"
            "loader = DataLoader(Stream(), num_workers=2)\n",
            lines=(5,),
        ),
    ),
)


@RULE.string("fork")
def check(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find the start method where it is given, in files that import PyTorch."""
    if constant.value != "fork" or not _is_start_method(constant, module):
        return
    if _is_of_loader(constant, module) or _has_torch(module):
        written = module.code(constant)
        yield module.hit(
            constant,
            "a forked process cannot use the TPU: its first use there raises",
            'start processes with "spawn"',
            fix=_fix(constant, written, module),
            cause="fork",
        )


@RULE.call("torch.utils.data.DataLoader")
def check_workers(call: ast.Call, _: str, module: Module) -> Iterator[Hit]:
    """Find datasets of the file that use a device, where a loader has workers."""
    workers = keyword(call, "num_workers")
    context = keyword(call, "multiprocessing_context")
    if workers is None or context is not None or _is_zero(workers, module):
        return
    for function in module.index.of(ast.FunctionDef):
        if function.name in _FETCHERS and _is_dataset(module.parent(function)):
            yield from _moves(function, module)


def _moves(function: ast.FunctionDef, module: Module) -> Iterator[Hit]:
    for node in descend(function):
        if isinstance(node, ast.Call) and _moves_to_device(node, module):
            yield module.hit(
                node,
                "a `DataLoader` worker is forked, and cannot use the TPU",
                "move the batch to the device in the main process",
                span=module.method_span(node),
                cause="worker",
            )


def _moves_to_device(call: ast.Call, module: Module) -> bool:
    if getattr(call.func, "attr", "") == "cuda":
        return True
    return any(
        sink.call is call
        and sink.kind is SinkKind.TO
        and (module.is_device(sink.node) or any(map(is_cuda, module.value(sink.node))))
        for sink in module.sinks
    )


def _is_dataset(owner: ast.AST | None) -> bool:
    return isinstance(owner, ast.ClassDef) and any(
        getattr(base, "attr", getattr(base, "id", "")).endswith("Dataset") for base in owner.bases
    )


def _is_zero(node: ast.expr, module: Module) -> bool:
    values = module.value(node)
    return bool(values) and all(possible.value == 0 for possible in values)


def _is_start_method(constant: ast.Constant, module: Module) -> bool:
    parent = module.parent(constant)
    call = module.parent(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call):
        return False
    given = (
        parent.arg in _KEYWORDS if isinstance(parent, ast.keyword) else constant in call.args[:1]
    )
    if _is_of_loader(constant, module):
        return True
    callees = _CALLS | _TAKERS if isinstance(parent, ast.keyword) else _CALLS
    return given and getattr(call.func, "attr", getattr(call.func, "id", "")) in callees


def _is_of_loader(constant: ast.Constant, module: Module) -> bool:
    """Tell ``multiprocessing_context="fork"``, which loaders of PyTorch alone have."""
    parent = module.parent(constant)
    return isinstance(parent, ast.keyword) and parent.arg == "multiprocessing_context"


def _has_torch(module: Module) -> bool:
    roots = module.libraries.roots
    return any(root.startswith("torch") for root in roots) or "torch" in module.index.names


def _fix(constant: ast.Constant, written: str, module: Module) -> Fix | None:
    if written.strip("'\"") != "fork":
        return None
    text = written.replace("fork", "spawn")
    return repair.fix(module, Applicability.UNSAFE, module.edit(constant, text))
