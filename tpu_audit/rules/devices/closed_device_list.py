"""TPA108: a list of devices that has CUDA, and no TPU."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.devices.device_tests import Effect, cuda_test, effect, is_device, taken
from tpu_audit.rules.devices.literals import is_foreign, is_of_cuda
from tpu_audit.rules.devices.torch_devices import is_torch_device
from tpu_audit.rules.python.options import destination, keyword
from tpu_audit.rules.python.truth import OTHER_DEVICES
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_KINDS = OTHER_DEVICES | {"cpu", "meta", "auto"}
_ADVICE = 'let through any device that PyTorch knows, as `device.type != "cpu"`'
_VALIDATED = re.compile(r"(?:Base)?(?:Model|Settings|Schema|Struct)$")
"""Base classes that refuse what their fields' types do not name."""
_MISSING = frozenset({"AttributeError", "ImportError", "ModuleNotFoundError", "TypeError"})

RULE = Rule(
    code="TPA108",
    name="closed-device-list",
    severity=Severity.ERROR,
    words=("cuda",),
    docs=Docs(
        what='Finds lists of devices that name CUDA and end there: `choices=["cpu", "cuda"]`, '
        '`assert device in {...}`, `if device.type != "cuda": raise`, `{"cuda": f, "cpu": g}'
        "[device.type]`, and chains of `elif` that leave a variable without a value.",
        why="A TPU is refused, or finds no entry, although what follows may run there.",
        example='assert device.type in ("cpu", "cuda"), device',
        instead='assert device.type in ("cpu", torch.accelerator.current_accelerator().type)',
        references=("https://docs.pytorch.org/docs/stable/accelerator.html",),
    ),
    valid=(
        Case('p.add_argument("--device", choices=["cpu", "cuda", "tpu"])\n'),
        Case('p.add_argument("--backend-name", choices=["numpy", "cuda"])\n'),
        Case('if device.type == "mps":\n    raise ValueError("no float64")\n'),
        Case('NO_F64 = frozenset({"mps", "npu"})\nx = f32 if device.type in NO_F64 else f64\n'),
        Case(
            'def set_dev(device):\n    if device.startswith("cuda:"):\n        a(device)\n'
            '    elif device.startswith("npu:"):\n        b(device)\n'
        ),
        Case(
            'if device == "cuda":\n    n = 2\nelif device == "cpu":\n    n = 1\nelse:\n    n = 0\n'
        ),
        Case("try:\n    f(device)\nexcept AttributeError:\n    assert device == 'cuda'\n    g()\n"),
        Case("from typing import Literal\ndef f(device: Literal['cpu', 'cuda']): ...\n"),
        Case('name = {"cuda": 1, "cpu": 2}[word]\n'),
        Case(
            'KINDS = ("cuda", "tpu")\nif mesh.device_type not in KINDS:\n'
            "    raise ValueError(KINDS)\n"
        ),
        Case("import torch\nif not torch.cuda.is_available():\n    raise RuntimeError('cuda')\n"),
    ),
    invalid=(
        Case(
            'p.add_argument("--device", choices=["cpu", "cuda"], default="cpu")\n',
            lines=(1,),
            columns=(36,),
        ),
        Case(
            "import click\nKINDS = ('cuda', 'cpu', 'auto')\n"
            '@click.option("--device", type=click.Choice(KINDS))\ndef main(device): ...\n',
            lines=(3,),
            severity=Severity.WARNING,
        ),
        Case('assert device.type in ("cpu", "cuda"), device\n', lines=(1,)),
        Case("if v not in ('cpu', 'cuda'):\n    raise ValueError(v)\n", lines=(1,)),
        Case(
            "import torch\n"
            "if q.device.type != 'cuda' or torch.cuda.get_device_capability()[0] < 9:\n"
            "    raise ValueError('needs Hopper')\n"
            "if key.device.type != 'cuda':\n    raise ValueError('calling the CUDA kernel')\n",
            lines=(2, 4),
            severity=Severity.INFO,
        ),
        Case('if x.device.type != "cuda":\n    raise ValueError("CUDA only")\n', lines=(1,)),
        Case(
            'if kind_of(device):\n    pass\nif device not in {"cuda", "cpu"}:\n'
            '    raise ValueError(f"unknown {device}")\n',
            lines=(3,),
        ),
        Case(
            'if device == "cuda":\n    n = 2\nelif device == "cpu":\n    n = 1\nelse:\n'
            "    raise ValueError(device)\n",
            lines=(1,),
        ),
        Case('f = {"cuda": fast, "cpu": slow}[x.device.type]\n', lines=(1,)),
        Case(
            "TABLE = {'cuda': 1, 'cpu': 2}\ndef f(device):\n    return TABLE[device.type]\n",
            lines=(3,),
        ),
        Case(
            "from typing import Literal\nfrom pydantic import BaseModel\nclass R(BaseModel):\n"
            "    device: Literal['cpu', 'cuda'] | None = None\n",
            lines=(4,),
        ),
        Case(
            "KINDS = ('cpu', 'cuda')\ndef f(device):\n    if device not in KINDS:\n"
            "        raise ValueError(device)\n",
            lines=(3,),
        ),
        Case(
            "match device.type:\n    case 'cuda':\n        a()\n    case 'cpu':\n        b()\n"
            "    case _:\n        raise ValueError\n",
            lines=(1,),
        ),
        Case(
            'def f(device):\n    if device == "cuda":\n        n = 2\n    elif device == "cpu":\n'
            "        n = 1\n    return n\n",
            lines=(2,),
        ),
        Case(
            'if device.type == "cuda":\n    n = 2\nelif device.type == "cpu":\n    n = 1\n'
            "print(n)\n",
            lines=(1,),
        ),
    ),
)


@RULE.string("cuda")
def check_test(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find tests whose failure raises, or leaves a variable without a value."""
    found = cuda_test(constant, module)
    if found is None or is_foreign(module):
        return
    test, made = found[0], module.parent(constant)
    is_text = not isinstance(made, ast.Call) or made is test
    if is_text and is_torch_device(found[1], module):
        return
    if is_of_cuda(test, module) or _is_for_old_versions(test, module):
        return
    if effect(test, module) is Effect.REJECTED:
        severity = Severity.INFO if _is_for_kernels(test, module) else None
        message = "a TPU is refused here, since it is not CUDA"
        yield module.hit(test, message, _ADVICE, severity=severity)
    elif _leaves_unbound(test, module):
        yield module.hit(
            test, "a TPU takes no arm here: a variable has no value afterwards", _ADVICE
        )


@RULE.keyword("choices")
def check_choices(argument: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find options of argparse that take some devices alone."""
    call = module.parent(argument)
    if isinstance(call, ast.Call) and is_device(ast.Name(id=destination(call)), module):
        yield from _choices(argument.value, module)


@RULE.call("click.Choice")
def check_click(call: ast.Call, _: str, module: Module) -> Iterator[Hit]:
    """Find options of click that take some devices alone."""
    holder = module.parent(call)
    option = module.parent(holder) if isinstance(holder, ast.keyword) else None
    if not isinstance(option, ast.Call) or keyword(option, "type") is not call:
        return
    if call.args and is_device(ast.Name(id=destination(option)), module):
        yield from _choices(call.args[0], module)


@RULE.use("typing.Literal", "typing_extensions.Literal")
def check_literal(node: ast.expr, _: str, module: Module) -> Iterator[Hit]:
    """Find fields of validated models, whose type lists the devices."""
    child: ast.AST = node
    parent = module.parent(node)
    while isinstance(parent, ast.expr):
        child, parent = parent, module.parent(parent)
    owner = module.parent(parent) if isinstance(parent, ast.AnnAssign) else None
    if not isinstance(owner, ast.ClassDef) or not isinstance(parent, ast.AnnAssign):
        return
    kinds = module.parent(node)
    if (
        isinstance(kinds, ast.Subscript)
        and child is parent.annotation
        and is_device(parent.target, module)
        and any(_VALIDATED.search(module.code(base)) for base in owner.bases)
    ):
        yield from _choices(kinds.slice, module, parent.target)


@RULE.node(ast.Compare)
def check_named(compare: ast.Compare, module: Module) -> Iterator[Hit]:
    """Find ``if device not in SUPPORTED: raise``."""
    kinds = compare.comparators[0]
    if not isinstance(kinds, ast.Name | ast.Attribute) or is_foreign(module):
        return
    if not isinstance(compare.ops[0], ast.In | ast.NotIn) or not is_device(compare.left, module):
        return
    names = {getattr(item, "value", None) for item in module.elements(kinds)}
    if "cuda" in names and "tpu" not in names and effect(compare, module) is Effect.REJECTED:
        yield module.hit(compare, "a TPU is refused here: the list does not name it", _ADVICE)


@RULE.node(ast.Match)
def check_match(match: ast.Match, module: Module) -> Iterator[Hit]:
    """Find ``case _: raise`` after cases for CUDA and other devices."""
    last = match.cases[-1]
    texts = {str(getattr(n, "value", "")) for c in match.cases for n in descend(c.pattern)}
    rest = isinstance(last.pattern, ast.MatchAs) and last.guard is None
    refused = rest and isinstance(last.body[-1], ast.Raise)
    known = "cuda" in texts and "tpu" not in texts and is_device(match.subject, module)
    if refused and known:
        yield module.hit(match.subject, "a TPU is refused here: no case names it", _ADVICE)


@RULE.node(ast.Subscript)
def check_table(subscript: ast.Subscript, module: Module) -> Iterator[Hit]:
    """Find tables by device that are asked for a device they may lack."""
    table = _table(subscript.value, module)
    if table is not None and is_device(subscript.slice, module):
        keys = [getattr(key, "value", None) for key in table.keys]
        if "cuda" in keys and all(key in _KINDS for key in keys):
            yield module.hit(subscript, "the table has no entry for a TPU: KeyError", _ADVICE)


def _is_for_kernels(test: ast.expr, module: Module) -> bool:
    """Tell a refusal by what has kernels for CUDA alone: a compute capability, a library."""
    if module.backends.is_option(test):
        return True
    whole, top = test, module.parent(test)
    while isinstance(top, ast.expr):
        whole, top = top, module.parent(top)
    words = (getattr(n, "attr", getattr(n, "id", "")) for n in descend(whole))
    if isinstance(top, ast.If) and any(map(_is_provider, descend(*top.body))):
        return True
    refused = top.body[-1] if isinstance(top, ast.If) else whole
    texts = (str(getattr(n, "value", "")) for n in descend(refused))
    return "get_device_capability" in words or any("CUDA kernel" in text for text in texts)


def _is_provider(node: ast.AST) -> bool:
    return str(getattr(node, "value", "")).endswith("ExecutionProvider")


def _is_for_old_versions(node: ast.AST, module: Module) -> bool:
    """Tell whether code handles what an older PyTorch lacks."""
    parent: ast.AST | None = node
    while parent is not None:
        if isinstance(parent, ast.ExceptHandler) and parent.type is not None:
            names = (getattr(n, "id", "") for n in descend(parent.type))
            if any(name in _MISSING for name in names):
                return True
        parent = module.parent(parent)
    return False


def _table(node: ast.expr, module: Module) -> ast.Dict | None:
    """Return the dict that is looked up in, or a name's only value."""
    if isinstance(node, ast.Name):
        values = [binding.value for binding in module.scopes.bindings(node)]
        node = values[0] if len(values) == 1 and values[0] is not None else node
    return node if isinstance(node, ast.Dict) else None


def _choices(node: ast.expr, module: Module, place: ast.expr | None = None) -> Iterator[Hit]:
    kinds = {getattr(item, "value", None) for item in module.elements(node)}
    if "cuda" in kinds and all(kind in _KINDS or _is_indexed(kind) for kind in kinds):
        yield module.hit(
            place or node,
            "the option refuses a TPU: CUDA is among its devices, and no TPU",
            "leave `choices` out, and let `torch.device` judge the name",
            severity=Severity.WARNING if "auto" in kinds else None,
        )


def _is_indexed(kind: object) -> bool:
    return isinstance(kind, str) and kind.partition(":")[0] in _KINDS


def _leaves_unbound(test: ast.expr, module: Module) -> bool:
    """Tell an ``if`` with ``elif "cpu"`` and no ``else``, whose arms alone give a name a value."""
    top = module.parent(test)
    if not isinstance(top, ast.If) or top.test is not test or module.truth(test) is not False:
        return False
    arms = _arms(top)
    if len(arms) < 2 or taken(top.orelse, module) or not _asks_for_cpu(top):  # noqa: PLR2004 - an elif
        return False
    names = set.intersection(*(_names(arm) for arm in arms))
    return any(_is_bound_here_alone(name, top, module) for name in names)


def _arms(node: ast.If) -> list[list[ast.stmt]]:
    arms = [node.body]
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        node = node.orelse[0]
        arms.append(node.body)
    return arms


def _asks_for_cpu(node: ast.If) -> bool:
    tests = [part for part in descend(node) if isinstance(part, ast.If)]
    return any(
        isinstance(part, ast.Constant) and part.value == "cpu"
        for one in tests
        for part in descend(one.test)
    )


def _names(arm: list[ast.stmt]) -> set[str]:
    targets = [t for s in arm if isinstance(s, ast.Assign) for t in s.targets]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _is_bound_here_alone(name: str, top: ast.If, module: Module) -> bool:
    """Tell whether a function's variable is read after the arms, and bound in them alone."""
    function = module.context(top).function
    if function is not None and name in _parameters(function):
        return False
    uses = [n for n in module.index.names.get(name, ()) if module.context(n).function is function]
    inside = {*descend(top)}
    outside = [n for n in uses if n not in inside]
    read = any(isinstance(n.ctx, ast.Load) and n.lineno > top.lineno for n in outside)
    return read and not any(isinstance(n.ctx, ast.Store) for n in outside)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {node.arg for node in descend(function.args) if isinstance(node, ast.arg)}
