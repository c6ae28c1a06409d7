"""TPA107: a CUDA device as the default of a parameter, a field or an option."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.devices.literals import (
    OVERRIDABLE,
    is_default,
    is_foreign,
    over_literal,
    parameters,
)
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python.devices import is_cuda
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.devices import DeviceSink
    from tpu_audit.rules.python.module import Module
    from tpu_audit.rules.python.possible import Possible

_DEVICE = 'torch.accelerator.current_accelerator() or torch.device("cpu")'

RULE = Rule(
    code="TPA107",
    name="cuda-device-default",
    severity=Severity.WARNING,
    words=("cuda",),
    docs=Docs(
        what="Finds CUDA devices as defaults of parameters, dataclass and pydantic fields, and "
        "options of argparse, click, typer and absl.",
        why="Who gives no device gets CUDA, which a TPU host has not: what is made there raises.",
        example='parser.add_argument("--device", default="cuda")\n\n\n'
        'def load(path, device="cuda"): ...',
        instead='parser.add_argument("--device", default=None)\n\n\n'
        "def load(path, device=None):\n"
        "    if device is None:\n"
        '        device = torch.accelerator.current_accelerator() or torch.device("cpu")',
        fix_safety="Unsafe: the default is worked out when the module is imported, and a host "
        "without an accelerator gets the CPU.",
        references=("https://docs.pytorch.org/docs/stable/accelerator.html",),
    ),
    valid=(
        Case(
            "import torch\ndef is_autocast_on(device='cuda'):\n"
            "    return torch.is_autocast_enabled(device)\n"
        ),
        Case('def load(path, device="cpu"):\n    return path\n'),
        Case('def show(title="cuda"):\n    print(title)\n'),
        Case('def build(arch, runtime="cuda"):\n    return compile_for(runtime)\n'),
        Case(
            "import torch\n"
            'def load(p, device="cuda" if torch.cuda.is_available() else "cpu"):\n    return p\n'
        ),
        Case('import argparse\np.add_argument("--device", default="cpu", help="cuda or cpu")\n'),
        Case('from ctranslate2 import Translator\ndef load(p, device="cuda"):\n    return p\n'),
    ),
    invalid=(
        Case(
            'import torch\ndef load(path, device: str = "cuda"):\n    return path\n',
            lines=(2,),
            columns=(30,),
            fixed=f"import torch\ndef load(path, device: str = str({_DEVICE})):\n    return path\n",
        ),
        Case(
            "import argparse\np = argparse.ArgumentParser()\n"
            'p.add_argument("--train-device", default="cuda:0", type=str)\n',
            lines=(3,),
        ),
        Case(
            "from dataclasses import dataclass, field\n@dataclass\nclass Config:\n"
            '    device: str = "cuda"\n    eval_device: str = field(default="cuda:1")\n',
            lines=(4, 5),
        ),
        Case(
            "import click\n@click.command()\n"
            '@click.option("--device", default="cuda")\ndef main(device):\n    run(device)\n',
            lines=(3,),
        ),
        Case(
            "import typer\n"
            'def main(device: str = typer.Option("cuda", help="d")):\n    go(device)\n',
            lines=(2,),
        ),
        Case(
            'import torch\ndef move(x, where="cuda"):\n    return x.to(where)\n',
            lines=(2,),
        ),
        Case(
            "import torch\ndef move(x, *, device=torch.device('cuda')):\n    return x.to(device)\n",
            lines=(2,),
            fixed=f"import torch\ndef move(x, *, device={_DEVICE}):\n    return x.to(device)\n",
        ),
    ),
)


@RULE.module
def check_declared(module: Module) -> Iterator[Hit]:
    """Find defaults of what is named like a device."""
    for node in _declared(module):
        for possible in module.value(node):
            yield from _hit(possible, module)


@RULE.sink()
def check_used(sink: DeviceSink, module: Module) -> Iterator[Hit]:
    """Find defaults that reach a device, whatever their name."""
    if module.reach(sink.node).dead:
        return
    for possible in module.value(sink.node):
        if possible.via in OVERRIDABLE or is_default(possible.node, module):
            yield from _hit(possible, module)


def _declared(module: Module) -> Iterator[ast.expr]:
    for argument, default in parameters(module):
        if _is_device(argument.arg, module) and not _asks_autocast(argument, module):
            yield from _held(default)
    for name, defaults in module.options.defaults.items():
        if _is_device(name, module):
            yield from defaults
    for statement in module.index.of(ast.AnnAssign):
        named = statement.value is not None and module.is_device(statement.target)
        if named and isinstance(module.parent(statement), ast.ClassDef):
            yield from _held(statement.value)


def _asks_autocast(argument: ast.arg, module: Module) -> bool:
    """Tell a parameter of a function about autocast: its state of CUDA's can be asked for."""
    arguments = module.parent(argument)
    function = None if arguments is None else module.parent(arguments)
    name = getattr(function, "name", "")
    return "autocast" in name and name.startswith(("get_", "is_"))


def _held(value: ast.expr | None) -> Iterator[ast.expr]:
    """Iterate over what is a default: ``"cuda"``, or what ``field(default="cuda")`` holds."""
    if isinstance(value, ast.Call):
        yield from value.args[:1]
        yield from (k.value for k in value.keywords if k.arg == "default")
    if value is not None:
        yield value


def _is_device(name: str, module: Module) -> bool:
    return module.is_device(ast.Name(id=name)) and not name.endswith(("_map", "_ids", "_count"))


def _hit(possible: Possible, module: Module) -> Iterator[Hit]:
    if not is_cuda(possible) or is_foreign(module):
        return
    yield module.hit(
        possible.node,
        "the default device is CUDA, which a TPU host does not have",
        "make the default `None` and ask for the accelerator's device at run time",
        fix=over_literal(possible.node, module, Applicability.UNSAFE),
    )
