"""TPA206: a random generator of CUDA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.devices import SinkKind, is_cuda
from tpu_audit.rules.python.possible import Via
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.devices import DeviceSink
    from tpu_audit.rules.python.module import Module
    from tpu_audit.rules.python.possible import Possible

_DEVICE = 'torch.accelerator.current_accelerator() or torch.device("cpu")'

RULE = Rule(
    code="TPA206",
    name="cuda-generator",
    severity=Severity.ERROR,
    words=("cuda", "cuda:*"),
    docs=Docs(
        what='Finds `torch.Generator("cuda")`.',
        why="PyTorch for TPUs is built without CUDA: making the generator raises.",
        example='generator = torch.Generator(device="cuda").manual_seed(0)',
        instead='device = torch.accelerator.current_accelerator() or torch.device("cpu")\n'
        "generator = torch.Generator(device=device).manual_seed(0)",
        fix_safety="Unsafe: the numbers drawn differ from device to device. A generator of the CPU "
        "draws the same everywhere, where what takes it allows for one.",
        references=(
            "https://docs.pytorch.org/docs/stable/generated/torch.Generator.html",
            "https://huggingface.co/docs/diffusers/using-diffusers/reusing_seeds",
        ),
    ),
    valid=(
        Case('import torch\ng = torch.Generator("cpu").manual_seed(0)\n'),
        Case("import torch\ng = torch.Generator(device=x.device)\n"),
        Case("from typing import Generator\ndef f() -> Generator[int, None, None]:\n    yield 1\n"),
        Case(
            "import torch\ng = torch.Generator(\n"
            '    device="cuda" if torch.cuda.is_available() else "cpu")\n'
        ),
    ),
    invalid=(
        Case(
            'import torch\ng = torch.Generator("cuda").manual_seed(0)\n',
            lines=(2,),
            columns=(21,),
            fixed=f"import torch\ng = torch.Generator({_DEVICE}).manual_seed(0)\n",
        ),
        Case(
            "import torch\ng = torch.Generator(device=f'cuda:{rank}')\n",
            lines=(2,),
            fixed=f"import torch\ng = torch.Generator(device={_DEVICE})\n",
        ),
        Case(
            "from torch import Generator\nimport torch\ngens = [\n"
            '    Generator(device="cuda:0").manual_seed(i)\n    for i in range(4)\n]\n',
            lines=(4,),
            fixed="from torch import Generator\nimport torch\ngens = [\n"
            f"    Generator(device={_DEVICE}).manual_seed(i)\n    for i in range(4)\n]\n",
        ),
        Case('import torch\nPLACE = "cuda"\ng = torch.Generator(PLACE)\n', lines=(3,)),
    ),
)


@RULE.sink(SinkKind.GENERATOR)
def check(sink: DeviceSink, module: Module) -> Iterator[Hit]:
    """Find generators of a CUDA device, unless the literal is another rule's already."""
    for possible in module.value(sink.node):
        if not is_cuda(possible) or module.reach(possible.node).dead:
            continue
        direct = possible.via is Via.LITERAL
        if not direct and (possible.via is not Via.VARIABLE or _elsewhere(possible, sink, module)):
            continue
        yield module.hit(
            possible.node if direct else sink.node,
            "a generator of CUDA cannot be made on a TPU: `torch.Generator` raises",
            "give `torch.Generator` the accelerator's device",
            fix=_fix(possible.node, module) if direct else None,
        )


def _elsewhere(possible: Possible, sink: DeviceSink, module: Module) -> bool:
    """Tell whether the literal reaches another place that takes a device."""
    return any(
        possible.node in {other.node for other in module.value(one.node)}
        for one in module.sinks
        if one is not sink and one.kind is not SinkKind.GENERATOR
    )


def _fix(literal: ast.expr, module: Module) -> Fix:
    text = repair.fitted(module, literal, repair.device(module))
    return repair.fix(module, Applicability.UNSAFE, module.edit(literal, text))
