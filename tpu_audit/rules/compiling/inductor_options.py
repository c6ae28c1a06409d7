"""TPA504: settings of TorchInductor."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.compiling.compiled import REFERENCE, argument, compile_calls, entries
from tpu_audit.rules.cuda_api.environment import Use, use_of
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_TPU = frozenset(
    {
        *("async_compile", "num_dynamic_buckets", "bucket_size", "serializable"),
        *("debug_callback", "name", "tpu_backend"),
    }
)
"""Options that the TPU backend knows."""

RULE = Rule(
    code="TPA504",
    name="inductor-options",
    severity=Severity.WARNING,
    words=("_inductor", "options", "TORCHINDUCTOR_*"),
    docs=Docs(
        what="Finds assignments to `torch._inductor.config` and TorchInductor's `options` of "
        "`torch.compile`.",
        why="TorchInductor does not compile for a TPU: its settings have no effect, and what they "
        "were tuned for is lost.",
        example="torch._inductor.config.max_autotune = True",
        instead='model = torch.compile(model, options={"bucket_size": 128})',
        fix_safety="Unsafe: the setting is for speed or memory on CUDA and the CPU.",
        references=(REFERENCE,),
    ),
    valid=(
        Case('import torch\nm = torch.compile(m, options={"bucket_size": 256})\n'),
        Case("import torch\nif torch._inductor.config.max_autotune:\n    pass\n"),
        Case('import torch\nm = build(m, options={"max_autotune": True})\n'),
        Case(
            "import torch\nif torch.cuda.is_available():\n"
            "    torch._inductor.config.triton.cudagraphs = True\n"
        ),
    ),
    invalid=(
        Case(
            "import torch\ntorch._inductor.config.coordinate_descent_tuning = True\nrun()\n",
            lines=(2,),
            fixed="import torch\nrun()\n",
        ),
        Case(
            "import torch._inductor.config as ic\nic.triton.unique_kernel_names = True\n",
            lines=(2,),
        ),
        Case("import os\nos.environ['TORCHINDUCTOR_MAX_AUTOTUNE'] = '1'\n", lines=(2,)),
        Case("import torch\np = torch._inductor.aoti_compile_and_package(e)\n", lines=(2,)),
        Case("from torch._inductor import config\nconfig.fx_graph_cache = True\n", lines=(2,)),
        Case(
            "import torch\nOPTS = {'max_autotune': True}\nm = torch.compile(m, options=OPTS)\n",
            lines=(3,),
        ),
    ),
)


@RULE.use("torch._inductor.config.*")
def assignments(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find assignments to the settings."""
    statement = module.parent(node)
    if not isinstance(statement, ast.Assign) or node not in statement.targets:
        return
    alone = len(statement.targets) == 1
    fix = repair.delete(module, statement, Applicability.UNSAFE) if alone else None
    yield module.hit(
        node,
        f"`{name}` has no effect on a TPU: TorchInductor does not compile for it",
        "leave it to other devices",
        fix=fix,
    )


@RULE.string("TORCHINDUCTOR_")
def variables_set(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find TorchInductor's environment variables, set in code."""
    name = str(constant.value)
    if name.startswith("TORCHINDUCTOR_") and use_of(constant, module) is Use.SET:
        yield module.hit(
            constant,
            f"`{name}` has no effect on a TPU: TorchInductor does not compile for it",
            "leave it to other devices",
        )


@RULE.call("torch._inductor.aoti_compile_and_package", "torch._inductor.aot_compile")
def ahead(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find programs that TorchInductor compiles ahead of time."""
    yield module.hit(
        call.func,
        f"`{name}` compiles for CUDA, XPU or the CPU, never for a TPU",
        "use `torch.compile`, which caches what it compiled for a TPU",
    )


@RULE.module
def options(module: Module) -> Iterator[Hit]:
    """Find TorchInductor's options given to torch.compile."""
    for call in compile_calls(module):
        for value, _ in argument(call, "options", module):
            words = [key for key, _ in entries(value, module) if key not in _TPU]
            if words:
                yield module.hit(
                    value,
                    f"the compile option `{words[0]}` has no effect on a TPU",
                    "leave TorchInductor's options to other devices",
                )
