"""Tests for CUDA by a device's text, and what changes because they are false on a TPU."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from tpu_audit.rules.precision.dtypes import dtype_of
from tpu_audit.rules.python.choices import depends_on_availability
from tpu_audit.rules.python.devices import is_cuda
from tpu_audit.rules.python.guards import Guarded, guard_of
from tpu_audit.rules.python.walk import descend

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tpu_audit.rules.python.module import Module

_NEGATIVE = (ast.NotEq, ast.NotIn, ast.IsNot)
_NO_DEVICE = re.compile(r"device_?(?:map|maps|ids|count|index|name|mesh|list|num)", re.IGNORECASE)
_KERNEL = re.compile(
    r"cuda|triton|kernel|flash|xformers|apex|fused|_ext$|^_C$|cudnn|nvcc|cublas", re.IGNORECASE
)
_SETTINGS = frozenset({"pin_memory", "non_blocking", "persistent_workers", "pin_memory_device"})
"""Arguments that have no effect on a TPU."""
_EXTRA = re.compile(r"scaler|(?:^|_)pin(?:ned)?(?:_|$)", re.IGNORECASE)
_VARIABLES = re.compile(r"NCCL|CUDA|CUBLAS|CUDNN|NVIDIA")
_CUDA_SETTINGS = ("torch.backends.cuda.*", "torch.backends.cudnn.*")
_SKIPS = frozenset({"skipIf", "skipUnless", "skipif", "xfail"})
"""Decorators of tests: a rule on tests has them."""


class Effect(Enum):
    """What a test for CUDA that is false on a TPU changes."""

    NOTHING = auto()
    """Both ways say the same, or only work that CUDA alone needs is left out."""
    REJECTED = auto()
    """The other way raises."""
    COLLAPSED = auto()
    """Other devices than CUDA are called ``"cpu"``."""
    NO_AUTOCAST = auto()
    """Mixed precision is off."""
    COPY = auto()
    """A device's tensor is not copied to the host before it is read there."""
    TO_HOST = auto()
    """A device's tensor is copied to the host, to be worked on there."""
    LEFT_BEHIND = auto()
    """Something is not moved to the device, or made on the host."""
    KERNEL = auto()
    """A way that needs CUDA's kernels is not taken: the portable way is right."""
    VALUE = auto()
    """A setting or a flag differs."""
    WAY = auto()
    """Other statements run."""


_LASTING = (Effect.LEFT_BEHIND, Effect.COPY, Effect.TO_HOST, Effect.NO_AUTOCAST)
"""What a flag's later use may cost, the worst first."""


@dataclass(frozen=True, slots=True)
class _Use:
    """The whole test that an atom is part of, and what it decides."""

    test: ast.expr
    parent: ast.AST | None
    positive: bool
    """The test holds where the atom's device is CUDA."""
    decided: bool
    """Another part asks whether CUDA is available: this atom decides nothing."""


def cuda_test(constant: ast.Constant, module: Module) -> tuple[ast.expr, ast.expr] | None:
    """Return the test that ``"cuda"`` is part of, and the device that it asks for.

    ``device.type == "cuda"``, ``"cuda" in str(device)``, ``kind in ("cuda", "xpu")``,
    ``name.startswith("cuda")``, ``device == torch.device("cuda")``. None where the string is for
    something else.
    """
    if str(constant.value).lower().partition(":")[0] != "cuda":
        return None
    node: ast.expr = constant
    parent = module.parent(constant)
    if isinstance(parent, ast.Call) and module.is_named(parent.func, "torch.device"):
        node, parent = parent, module.parent(parent)
    if isinstance(parent, ast.Tuple | ast.List | ast.Set):
        node, parent = parent, module.parent(parent)
    found: tuple[ast.expr, ast.expr] | None = None
    listed = isinstance(node, ast.Tuple | ast.List | ast.Set) and _names_cpu(node)
    if isinstance(parent, ast.Compare) and len(parent.ops) == 1:
        right = parent.comparators[0]
        found = parent, (right if parent.left is node else parent.left)
    elif isinstance(parent, ast.Call) and getattr(parent.func, "attr", "") == "startswith":
        found = (parent, parent.func.value) if isinstance(parent.func, ast.Attribute) else None
    return found if found and (listed or is_device(found[1], module)) else None


def _names_cpu(kinds: ast.Tuple | ast.List | ast.Set) -> bool:
    """Tell a list of devices by its items, whatever is looked up in it."""
    return any(isinstance(kind, ast.Constant) and kind.value == "cpu" for kind in kinds.elts)


def is_device(node: ast.expr, module: Module) -> bool:
    """Tell whether an expression holds one device, judging by its spelling."""
    word = getattr(node, "attr", getattr(node, "id", ""))
    return module.is_device(node) and _NO_DEVICE.search(str(word)) is None


def effect(atom: ast.expr, module: Module, *, negated: bool = False) -> Effect:
    """Return what changes on a TPU because a test for CUDA is false there.

    ``negated``: the atom is a name for the test's opposite.
    """
    use = _use(atom, module)
    use = replace(use, positive=use.positive is not negated)
    if use.decided or _knows_tpu(use, module):
        return Effect.NOTHING
    if isinstance(use.parent, ast.keyword):
        return _of_keyword(use.parent, module)
    if _has_rule(use.parent, module) or _names_extra(use.parent):
        return Effect.NOTHING
    if isinstance(use.parent, ast.Assert):
        return Effect.REJECTED if use.positive else Effect.NOTHING
    if isinstance(use.parent, ast.If | ast.IfExp) and use.test is use.parent.test:
        return _of_choice(atom, use, use.parent, module)
    return Effect.VALUE


def _has_rule(node: ast.AST | None, module: Module) -> bool:
    """Tell a call whose own rule says what becomes of it."""
    return isinstance(node, ast.Call) and (
        _word(node.func) in _SKIPS or module.is_named(node.func, "torch.cuda.amp.*")
    )


def _names_extra(node: ast.AST | None) -> bool:
    """Tell a flag for a gradient scaler or pinned memory, which a TPU does without."""
    return isinstance(node, ast.Assign) and all(
        _EXTRA.search(_word(target)) is not None for target in node.targets
    )


def lasting_effect(atom: ast.expr, module: Module) -> Effect:
    """Return what changes by a test, or by what is done later with the flag that it sets."""
    changed = effect(atom, module)
    statement = module.statement(atom)
    if changed is not Effect.VALUE or not isinstance(statement, ast.Assign):
        return changed
    function = module.context(atom).function
    uses = [
        use
        for target in statement.targets
        if isinstance(target, ast.Name)
        for use in module.index.names[target.id]
        if isinstance(use.ctx, ast.Load) and module.context(use).function is function
    ]
    negated = not _use(atom, module).positive
    later = {effect(use, module, negated=negated) for use in uses}
    return next((one for one in _LASTING if one in later), changed)


def _use(atom: ast.expr, module: Module) -> _Use:
    positive = not (isinstance(atom, ast.Compare) and isinstance(atom.ops[0], _NEGATIVE))
    decided = False
    node, parent = _asked_of_all(atom, module.parent(atom), module)
    while isinstance(parent, ast.BoolOp | ast.UnaryOp | ast.NamedExpr):
        if isinstance(parent, ast.UnaryOp):
            positive = positive is not isinstance(parent.op, ast.Not)
        elif isinstance(parent, ast.BoolOp):
            others = (value for value in parent.values if value is not node)
            decided = decided or any(_decides(parent, other, module) for other in others)
        node, parent = parent, module.parent(parent)
        node, parent = _asked_of_all(node, parent, module)
    return _Use(node, parent, positive, decided)


def _asked_of_all(
    node: ast.expr, parent: ast.AST | None, module: Module
) -> tuple[ast.expr, ast.AST | None]:
    """Step out of ``all(... for t in tensors)``, which asks the same of several."""
    if not isinstance(parent, ast.GeneratorExp | ast.ListComp) or parent.elt is not node:
        return node, parent
    call = module.parent(parent)
    if not isinstance(call, ast.Call) or getattr(call.func, "id", "") not in {"all", "any"}:
        return node, parent
    return call, module.parent(call)


def _decides(operator: ast.BoolOp, other: ast.expr, module: Module) -> bool:
    truth = module.truth(other)
    fixed = truth is isinstance(operator.op, ast.Or) and truth is not None
    return fixed and depends_on_availability(module, other)


def _knows_tpu(use: _Use, module: Module) -> bool:
    """Tell whether the same chain of tests asks for a TPU too."""
    top: ast.AST | None = use.parent
    above = module.parent(top) if top is not None else None
    while isinstance(above, ast.If) and above.orelse == [top]:
        top, above = above, module.parent(above)
    tests: list[ast.expr] = [use.test]
    while isinstance(top, ast.If):
        tests.append(top.test)
        top = top.orelse[0] if len(top.orelse) == 1 else None
    return any(
        isinstance(part, ast.Constant) and str(part.value).startswith("tpu")
        for test in tests
        for part in descend(test)
    )


def _of_keyword(argument: ast.keyword, module: Module) -> Effect:
    call = module.parent(argument)
    if argument.arg in _SETTINGS:
        return Effect.NOTHING
    if argument.arg != "enabled" or not isinstance(call, ast.Call):
        return Effect.VALUE
    word = _word(call.func)
    if "autocast" in word:
        return Effect.NO_AUTOCAST
    return Effect.NOTHING if "Scaler" in word else Effect.VALUE


def _of_choice(atom: ast.expr, use: _Use, choice: ast.If | ast.IfExp, module: Module) -> Effect:
    if module.arms_equal(choice):
        return Effect.NOTHING
    if isinstance(choice, ast.IfExp):
        if dtype_of(choice.body, module) and dtype_of(choice.orelse, module):
            return Effect.NOTHING  # the rule on choices of a dtype says more
        arms: tuple[Sequence[ast.AST], Sequence[ast.AST]] = ([choice.body], [choice.orelse])
    else:
        arms = (choice.body, taken(choice.orelse, module))
    cuda, other = arms if use.positive else (arms[1], arms[0])
    if other and isinstance(other[-1], ast.Raise):
        return Effect.REJECTED
    if not other and all(_is_of_cuda(node, module) for node in cuda):
        return Effect.NOTHING
    guarded = guard_of(atom, module)
    if not cuda and all(_is_move(node, module) for node in other):
        guarded = Guarded.EXTRA
    if guarded is not Guarded.WAY:
        return Effect.NOTHING if guarded is Guarded.EXTRA else Effect.REJECTED
    return _compared(cuda, other, choice, module)


def _is_move(node: ast.AST, module: Module) -> bool:
    """Tell ``x.to(device)`` as a statement: moving what is there already does nothing."""
    call = node.value if isinstance(node, ast.Expr | ast.Assign) else None
    if not isinstance(call, ast.Call) or not _is_method(call, "to") or not call.args:
        return False
    return not any(is_cuda(p) for p in module.value(call.args[0]))


def _is_of_cuda(node: ast.AST, module: Module) -> bool:
    """Tell a statement that only calls CUDA's own API, asks for it, or sets it up."""
    if isinstance(node, ast.Assign):
        return all(_sets_cuda(target, module) for target in node.targets)
    if isinstance(node, ast.Assert):
        return True  # what is asked of CUDA is not asked of a TPU
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and module.is_named(call.func, "torch.cuda.*")


def _sets_cuda(target: ast.expr, module: Module) -> bool:
    """Tell a switch of CUDA's libraries, or an environment variable that they read."""
    if isinstance(target, ast.Subscript) and module.is_named(target.value, "os.environ"):
        name = target.slice.value if isinstance(target.slice, ast.Constant) else ""
        return _VARIABLES.search(str(name)) is not None
    return module.is_named(target, *_CUDA_SETTINGS)


def taken(statements: Sequence[ast.stmt], module: Module) -> Sequence[ast.stmt]:
    """Return what runs of an ``else`` on a TPU: past ``elif`` that ask for other devices."""
    while len(statements) == 1 and isinstance(statements[0], ast.If):
        if module.truth(statements[0].test) is not False:
            break
        statements = statements[0].orelse
    return statements


def _compared(
    cuda: Sequence[ast.AST],
    other: Sequence[ast.AST],
    choice: ast.If | ast.IfExp,
    module: Module,
) -> Effect:
    if _collapses(cuda, other, module):
        return Effect.COLLAPSED
    away = [*other, *_after(cuda, choice, module)]
    if _calls(cuda, "cpu") and not _calls(away, "cpu") and _reads(choice, module):
        return Effect.COPY
    if any(_moves(node, module) for arm in cuda for node in descend(arm)):
        return Effect.LEFT_BEHIND
    if (reading := _reading(cuda, other, choice, module)) is not None:
        return reading
    if any(_is_kernel(node) for arm in (*cuda, choice.test) for node in descend(arm)):
        return Effect.KERNEL
    return Effect.VALUE if isinstance(choice, ast.IfExp) else Effect.WAY


def _reading(
    cuda: Sequence[ast.AST],
    other: Sequence[ast.AST],
    choice: ast.If | ast.IfExp,
    module: Module,
) -> Effect | None:
    """Return what the arm that a TPU takes does with the host, where CUDA's arm does not."""
    if _calls(other, "cpu"):
        both = _calls([*cuda, *_after(cuda, choice, module)], "cpu") or _calls(other, "numpy")
        return None if both else Effect.TO_HOST
    if _calls(other, "numpy") and not _calls([module.context(choice).function or choice], "cpu"):
        return Effect.COPY
    return None


def _after(
    cuda: Sequence[ast.AST], choice: ast.If | ast.IfExp, module: Module
) -> Sequence[ast.AST]:
    """Return what runs instead of an arm that returns: the rest of the block."""
    if not isinstance(choice, ast.If) or not cuda or not isinstance(cuda[-1], ast.Return):
        return []
    block = list(module.index.block(choice))
    return block[block.index(choice) + 1 :]


def _collapses(cuda: Sequence[ast.AST], other: Sequence[ast.AST], module: Module) -> bool:
    pairs = [(_value(one), _value(two)) for one in cuda for two in other]
    return any(
        a is not None
        and b is not None
        and (_is_own_device(a) or any(is_cuda(p) for p in module.value(a)))
        and any(p.value == "cpu" for p in module.value(b))
        for a, b in pairs
    )


def _is_own_device(node: ast.expr) -> bool:
    """Tell ``x.get_device()``, which is not the CPU's."""
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "get_device"


def _value(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.Assign | ast.Return | ast.AnnAssign):
        return node.value
    return node if isinstance(node, ast.expr) else None


def _calls(arms: Iterable[ast.AST], method: str) -> bool:
    return any(_is_method(node, method) for arm in arms for node in descend(arm))


def _word(callee: ast.expr) -> str:
    return str(getattr(callee, "attr", getattr(callee, "id", "")))


def _is_method(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") == name


def _reads(choice: ast.If | ast.IfExp, module: Module) -> bool:
    """Tell whether the function reads tensors by NumPy."""
    around = module.context(choice).function or module.tree
    return _calls([around], "numpy")


def _moves(node: ast.AST, module: Module) -> bool:
    if _is_method(node, "cuda"):
        return True
    if isinstance(node, ast.Call) and _is_method(node, "to") and node.args:
        return any(is_cuda(p) for p in module.value(node.args[0]))
    return isinstance(node, ast.Attribute) and (
        node.attr.endswith("Tensor") and module.is_named(node, "torch.cuda.*")
    )


def _is_kernel(node: ast.AST) -> bool:
    word = getattr(node, "attr", getattr(node, "id", ""))
    return isinstance(word, str) and word != "is_cuda" and _KERNEL.search(word) is not None
