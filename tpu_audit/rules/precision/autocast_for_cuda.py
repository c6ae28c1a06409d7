"""TPA301: autocast for CUDA."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.precision.dtypes import AMP
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.devices import is_cuda
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.python.possible import Possible, Via
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_DEVICE = '(torch.accelerator.current_accelerator() or torch.device("cpu")).type'
_OLD = "torch.cuda.amp.autocast"
_SETTINGS = frozenset(
    {Via.DEFAULT, Via.OPTION, Via.FIELD, Via.CONFIG, Via.ENVIRONMENT, Via.ATTRIBUTE}
)

RULE = Rule(
    code="TPA301",
    name="autocast-for-cuda",
    severity=Severity.WARNING,
    words=("autocast", "set_autocast_gpu_dtype"),
    docs=Docs(
        what='Finds `torch.autocast("cuda")`, `torch.cuda.amp.autocast` and autocast for a device '
        "type that is CUDA or the CPU, never a TPU.",
        why="Without CUDA this autocast warns and disables itself: the block computes in float32. "
        "Autocast for a TPU takes float16 unless `dtype` says otherwise.",
        example='with torch.autocast("cuda"):\n    loss = model(x).loss',
        instead="device = torch.accelerator.current_accelerator() or torch.device('cpu')\n"
        "with torch.autocast(device.type, dtype=torch.bfloat16):\n    loss = model(x).loss",
        fix_safety="Safe where the call names its dtype, unsafe otherwise: bfloat16 takes the "
        "place of CUDA's default, float16. Autocast stays off on a host without an accelerator.",
        references=(AMP,),
    ),
    valid=(
        Case(
            "import torch\ndef get_autocast(precision, device_type='cuda'):\n"
            "    return torch.autocast(device_type=device_type, dtype=torch.bfloat16)\n"
        ),
        Case("import torch\nwith torch.autocast(device.type, dtype=torch.bfloat16):\n    run()\n"),
        Case('import torch\nwith torch.autocast("cpu", dtype=torch.bfloat16):\n    run()\n'),
        Case(
            "import torch\nkind = 'cuda' if check() else x.device.type\n"
            "with torch.autocast(kind):\n    run()\n"
        ),
        Case("from mylib import autocast\nwith autocast('cuda'):\n    run()\n"),
        Case(
            "import torch\nif torch.cuda.is_available():\n"
            "    with torch.cuda.amp.autocast():\n        run()\n"
        ),
    ),
    invalid=(
        Case(
            "from functools import partial\nimport torch\n"
            "cast = partial(torch.amp.autocast, 'cuda', dtype=torch.bfloat16)\n",
            lines=(3,),
        ),
        Case(
            'import torch\nwith torch.autocast("cuda", dtype=torch.bfloat16):\n    run()\n',
            lines=(2,),
            columns=(6,),
            fixed=f"import torch\nwith torch.autocast({_DEVICE}, dtype=torch.bfloat16, "
            "enabled=torch.accelerator.is_available()):\n    run()\n",
        ),
        Case(
            "import torch\nfrom torch.cuda.amp import autocast\n@autocast()\ndef step(x):\n"
            "    return model(x)\n",
            lines=(3,),
            fixed="import torch\nfrom torch.cuda.amp import autocast\n"
            f"@torch.autocast({_DEVICE}, dtype=torch.bfloat16, "
            "enabled=torch.accelerator.is_available())\ndef step(x):\n    return model(x)\n",
        ),
        Case(
            "import torch\nwith torch.cuda.amp.autocast(use_amp, torch.float16):\n    run()\n",
            lines=(2,),
            fixed=f"import torch\nwith torch.autocast({_DEVICE}, enabled=use_amp and "
            "torch.accelerator.is_available(), dtype=torch.float16):\n    run()\n",
        ),
        Case(
            'import torch\nkind = "cuda" if "cuda" in str(device) else "cpu"\n'
            "with torch.autocast(kind):\n    run()\n",
            lines=(3,),
        ),
        Case("import torch\ntorch.set_autocast_gpu_dtype(torch.float16)\n", lines=(2,)),
        Case(
            "from torch.cuda.amp import autocast\nwith autocast(False):\n    run()\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            'from torch import amp\nwith amp.autocast(device_type="cuda", enabled=False):\n'
            "    run()\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
    ),
)


@RULE.call("torch.autocast", _OLD)
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find autocasts for CUDA, or for CUDA and the CPU alone."""
    device = call.args[0] if call.args else keyword(call, "device_type")
    if name != _OLD and (device is None or not _is_for_cuda(device, module)):
        return
    enabled = keyword(call, "enabled")
    if name == _OLD and call.args:
        enabled = call.args[0]
    off = _is_false(enabled)
    yield module.hit(
        call,
        "this autocast is CUDA's alone: the block is not cast on a TPU"
        if not off
        else "this switches off CUDA's autocast alone: a TPU's stays on in the block",
        "give the accelerator's type, `dtype=torch.bfloat16` with it"
        if not off
        else "give the accelerator's type",
        fix=_fix(call, name, device, module),
        severity=Severity.INFO if off else None,
    )


@RULE.call("torch.set_autocast_gpu_dtype")
def check_dtype(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find the dtype of CUDA's autocast, set by itself."""
    yield module.hit(
        call.func,
        f"`{name}` sets the dtype of CUDA's autocast alone",
        "write `torch.set_autocast_dtype(device.type, torch.bfloat16)`",
    )


@RULE.use("torch.autocast")
def check_partial(node: ast.expr, _: str, module: Module) -> Iterator[Hit]:
    """Find ``partial(torch.autocast, "cuda")``."""
    call = module.parent(node)
    if not isinstance(call, ast.Call) or call.args[:1] != [node]:
        return
    device = call.args[1] if len(call.args) > 1 else keyword(call, "device_type")
    if device is not None and _is_for_cuda(device, module):
        yield module.hit(
            device,
            "this autocast is CUDA's alone: what it is used for is not cast on a TPU",
            "give the accelerator's type, `dtype=torch.bfloat16` with it",
        )


def _is_for_cuda(device: ast.expr, module: Module) -> bool:
    """Tell whether the type is CUDA's: certainly, by a default, or in place of the CPU's."""
    values = module.value(device)
    return any(
        is_cuda(possible)
        and (values.complete or possible.via in _SETTINGS)
        and not _is_own_default(device, possible, module)
        for possible in values
    )


def _is_own_default(device: ast.expr, possible: Possible, module: Module) -> bool:
    """Tell a device parameter of a function about autocast: who calls it passes a device."""
    function = module.context(device).function
    return (
        possible.via is Via.DEFAULT
        and function is not None
        and "autocast" in function.name
        and module.is_device(device)
    )


def _fix(call: ast.Call, name: str, device: ast.expr | None, module: Module) -> Fix | None:
    """Write the call anew for the accelerator's type; nothing where a variable holds the type."""
    if (name != _OLD and not isinstance(device, ast.Constant)) or _is_open(call):
        return None
    given = _arguments(call, name, module)
    torch = repair.torch_name(module)
    safe = "dtype" in given
    if given.get("enabled") != "False":
        given.setdefault("dtype", f"{torch}.bfloat16")
        ready = f"{torch}.accelerator.is_available()"
        wish = given.get("enabled", "True")
        given["enabled"] = ready if wish == "True" else f"{_tight(wish)} and {ready}"
    texts = [f"{word}={text}" for word, text in given.items()]
    text = f"{torch}.autocast({', '.join([f'({repair.device(module)}).type', *texts])})"
    level = Applicability.SAFE if safe else Applicability.UNSAFE
    return repair.fix(module, level, module.edit(call, text))


def _is_open(call: ast.Call) -> bool:
    """Tell a call with ``*`` or ``**``, whose arguments are not known."""
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    return starred or any(argument.arg is None for argument in call.keywords)


def _arguments(call: ast.Call, name: str, module: Module) -> dict[str, str]:
    """Return the arguments but for the device type, by keyword, as written."""
    words: tuple[str, ...] = ("enabled", "dtype", "cache_enabled")
    if name != _OLD:
        words = ("device_type", "dtype", "enabled", "cache_enabled")
    given = {w: module.code(a) for w, a in zip(words, call.args, strict=False)}
    given |= {k.arg: module.code(k.value) for k in call.keywords if k.arg}
    given.pop("device_type", None)
    return given


def _tight(text: str) -> str:
    tree = ast.parse(text, mode="eval").body
    return text if isinstance(tree, ast.Name | ast.Attribute | ast.Call) else f"({text})"


def _is_false(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
