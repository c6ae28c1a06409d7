"""TPA503: backends of torch.compile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.compiling.compiled import REFERENCE, argument, compile_calls
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.arguments import without
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module
    from tpu_audit.rules.python.possible import Possible

_BACKENDS = frozenset(
    {
        *("inductor", "cudagraphs", "tensorrt", "torch_tensorrt", "onnxrt", "ipex", "tvm"),
        *("openxla", "openxla_eval", "hidet", "openvino", "hpu_backend", "aot_cudagraphs"),
    }
)
_OPTIMIZE = ("torch._dynamo.optimize", "torch._dynamo.optimize_assert")

RULE = Rule(
    code="TPA503",
    name="compile-backend",
    severity=Severity.ERROR,
    words=tuple(sorted(_BACKENDS)),
    docs=Docs(
        what="Finds `torch.compile` and `torch._dynamo.optimize` with a backend that is CUDA's or "
        "the CPU's, and TorchInductor by name.",
        why="Graphs with inputs on a TPU have a backend of their own, the default there. Another "
        "by name raises `RuntimeError`.",
        example='model = torch.compile(model, backend="inductor")',
        instead="model = torch.compile(model)",
        fix_safety='Safe for "inductor", the default on CUDA and the CPU. Unsafe for others.',
        references=(REFERENCE,),
    ),
    valid=(
        Case(
            "import torch\nclass HPUBackend:\n    def compile(self, f):\n"
            "        return torch.compile(f, backend='hpu_backend')\n"
        ),
        Case('import torch\nm = torch.compile(m, backend="eager")  # inductor is slower\n'),
        Case('BACKENDS = ("inductor", "eager")\nrun(backend="inductor")\n'),
        Case(
            'import torch\nif device.type == "cuda":\n'
            '    m = torch.compile(m, backend="cudagraphs")\n'
        ),
    ),
    invalid=(
        Case(
            'import torch\nm = torch.compile(m, fullgraph=True, backend="inductor")\n',
            lines=(2,),
            fixed="import torch\nm = torch.compile(m, fullgraph=True)\n",
        ),
        Case(
            'from torch import compile as tc\nf = tc(backend="cudagraphs")(g)\n',
            lines=(2,),
            fixed="from torch import compile as tc\nf = tc()(g)\n",
        ),
        Case("compile_backend: inductor\n", filename="conf.yaml", lines=(1,)),
        Case(
            'import torch._dynamo\n@torch._dynamo.optimize("inductor")\ndef f(x): ...\n', lines=(2,)
        ),
        Case(
            "import argparse, torch\np = argparse.ArgumentParser()\n"
            'p.add_argument("--backend", default="inductor")\nargs = p.parse_args()\n'
            "m = torch.compile(m, backend=args.backend)\n",
            lines=(3,),
        ),
    ),
)


@RULE.module
def calls(module: Module) -> Iterator[Hit]:
    """Find backends given to torch.compile."""
    for call in compile_calls(module):
        for value, inside in argument(call, "backend", module):
            for possible in module.value(value):
                if possible.value in _BACKENDS and not _is_elsewhere(call, possible, module):
                    here = inside and possible.node is value
                    fix = _fix(call, possible, module) if here else None
                    yield _hit(possible, fix, module)


def _is_elsewhere(call: ast.Call, possible: Possible, module: Module) -> bool:
    """Tell a compilation that no TPU comes to: a dead arm, a class for another device."""
    owner = module.classes.enclosing(call)
    kind = str(possible.value).partition("_")[0]
    named = owner is not None and owner.name.lower().startswith(kind)
    return named or module.reach(call).dead


@RULE.document("yaml", "json", "toml")
def check_document(document: Document) -> Iterator[Hit]:
    """Find backends in configs, under keys named like a compile backend."""
    for entry in document.entries:
        key = str(entry.key).lower()
        nested = key == "backend" and "compile" in str(entry.keys[-2:-1]).lower()
        named = key.endswith("compile_backend") and not key.startswith("torch_")
        if (named or nested) and entry.text() in _BACKENDS:
            yield document.hit(
                entry.span,
                f'the compile backend "{entry.value}" raises for inputs on a TPU',
                "leave it out: each device has its own default",
                severity=Severity.WARNING,
            )


@RULE.call(*_OPTIMIZE)
def optimize(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find backends given to TorchDynamo itself."""
    del name
    for possible in module.value(call.args[0]) if call.args else ():
        if possible.value in _BACKENDS:
            yield _hit(possible, None, module)


def _fix(call: ast.Call, possible: Possible, module: Module) -> Fix | None:
    edit = without(call, "backend", module)
    level = Applicability.SAFE if possible.value == "inductor" else Applicability.UNSAFE
    return None if edit is None else repair.fix(module, level, edit)


def _hit(possible: Possible, fix: Fix | None, module: Module) -> Hit:
    return module.hit(
        possible.node,
        f'the compile backend "{possible.value}" raises for inputs on a TPU',
        "leave `backend` out: each device has its own default",
        fix=fix,
    )
