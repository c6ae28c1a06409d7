"""Whether code runs each step: the condition of all rules on host reads and changing shapes."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.python.tensor_names import MODEL
from tpu_audit.rules.python.upkeep import on_host
from tpu_audit.rules.python.walk import descend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.context import Context
    from tpu_audit.rules.python.module import Module

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_RARE = re.compile(
    r"log|print|verbose|debug|interval|every|report|display|save|checkpoint|warn|isnan|isinf"
    r"|profil|visuali|plot|compiling|tracing|export|scripting|_freq|period|should_|evaluate",
    re.IGNORECASE,
)
"""Conditions under which code runs every so many steps, or in a trace only."""
_EPOCH = re.compile(r"epoch", re.IGNORECASE)
_STEPS = frozenset({"forward", "__call__", "training_step", "train_step", "step", "compute_loss"})
"""Functions that run each step whoever calls them."""
_STAGE = re.compile(r"(?:Step|Pipeline|Blocks?|Evaluator|Detector)$")
_WHOLE = frozenset({"generate", "validate", "evaluate"})
"""Functions that run once for each answer or epoch: what they repeat stands in their loops."""
_HALF = re.compile(r"==\s*(?:torch\.)?(?:float16|half)\b")
"""A test for float16, which code on a TPU does not work in."""
_FLASH = re.compile(r"cu_seq_?lens|flash_?att", re.IGNORECASE)
_APART = re.compile(
    r"^_?(?:get_unpad_data|upad_input|unpad_input)$|^_?flash_att\w*fn$"
    r"|^_?(?:make|register|set|init|build)_(?:schedule|timesteps|sigmas)$"
)
"""Functions of FlashAttention, which packs batches, and such as prepare a sampler's loop."""
_DENIED = re.compile(r"\bnot\b|!=")
"""A test for flash attention's packed batches, which a TPU has none of."""
_ONCE = re.compile(r"^_?(?:is_)?first(?:_(?:call|run|time|step|forward|batch|pass))?$")
"""Attributes that are true the first time alone."""
_TRAINS = re.compile(r"self\.training(?:$| or )")
_REPLACED = frozenset({"use_experts_implementation"})
"""Decorators under which transformers runs grouped products in place of a class's ``forward``."""
_METHODS = frozenset({"step", "decode", "decode_step", "decode_one", "forward_step"})
"""Methods of models that compute a token."""
_MOVES = frozenset(
    {
        *("to", "cuda", "backward", "zero_grad", "to_device", "prepare", "device", "train", "eval"),
        *("step", "no_grad", "inference_mode", "fit", "autocast"),
    }
)
"""What a function that works on a device says somewhere."""
_MAKES = re.compile(r"_?(?:build|load|get|make|create|save|init|setup|export|register)_")
"""Functions that make a model, or keep it, rather than compute with it."""
_DEPTH = 3
_LAST = (ast.Raise, ast.Break)
REFERENCE = "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html"
SHAPES = "https://docs.pytorch.org/docs/stable/torch.compiler_dynamic_shapes.html"
XLA = "https://github.com/pytorch/xla/blob/master/docs/source/learn/troubleshoot.md"


def runs_each_step(node: ast.AST, module: Module, depth: int = _DEPTH) -> bool:
    """Tell whether ``node`` runs each step of training, evaluation or generation.

    What runs once an epoch, every so many steps, in error handling or in tests does not.
    """
    context = module.context(node)
    loop = context.loop
    decodes = loop is not None and _calls_model(loop, module)
    if not (context.hot or decodes) or context.test or _is_exempt(node, module):
        return False
    function = context.function
    if context.training or decodes:
        if loop is None or decodes or not _stays_home(loop, context):
            return loop is None or _is_step(loop, module)
        if function is None or not module.context(function.body[0]).hot:
            return False
    return function is not None and _runs(function, context, module, depth)


def _runs(
    function: ast.FunctionDef | ast.AsyncFunctionDef, context: Context, module: Module, depth: int
) -> bool:
    """Tell whether a function, by its name and by what calls it, is one of a step."""
    whole = function.name in _WHOLE and not context.loop_depth
    if whole or _is_stage(function, module):
        return False
    if any(_inner_loops(function, module)):
        return False
    sites = [site for site in module.calls.sites(function) if module.context(site).hot]
    if not sites or function.name in _STEPS:
        return True
    return depth > 0 and any(runs_each_step(site, module, depth - 1) for site in sites)


def _is_step(loop: ast.For | ast.AsyncFor | ast.While, module: Module) -> bool:
    """Tell a loop over steps from one over epochs."""
    return not _is_epoch(loop) or not any(_inner_loops(loop, module))


def _stays_home(loop: ast.AST, context: Context) -> bool:
    """Tell a loop over batches that nothing moves to a device, as statistics are gathered."""
    around = context.function or loop
    return not any(
        isinstance(node, ast.Attribute) and node.attr in _MOVES for node in descend(around)
    )


def _is_exempt(node: ast.AST, module: Module) -> bool:
    """Tell what runs on the host, seldom, or not on a TPU at all, wherever it stands."""
    function = module.context(node).function
    if function is not None and _APART.search(function.name):
        return True
    return on_host(node, module) or is_rare(node, module) or is_replaced(node, module)


def is_evaluation(node: ast.AST, module: Module) -> bool:
    """Tell whether ``node`` stands in a loop over batches, and what is around does not train.

    So with what follows a computation without gradients in the same function.
    """
    context = module.context(node)
    around = context.function or context.loop
    if context.function is not None and _infers(context.function, module):
        return True
    if _is_of_evaluation(node, module):
        return True
    return context.training and (
        around is None
        or not any(isinstance(n, ast.Attribute) and n.attr == "backward" for n in descend(around))
    )


def _is_of_evaluation(node: ast.AST, module: Module) -> bool:
    """Tell the arm of ``if self.training`` that training does not take."""
    child, parent = node, module.parent(node)
    while parent is not None and not isinstance(parent, _FUNCTIONS):
        other = isinstance(parent, ast.If) and child in parent.orelse
        if other and isinstance(parent, ast.If) and _TRAINS.match(module.code(parent.test)):
            return True
        child, parent = parent, module.parent(parent)
    return False


def _infers(function: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> bool:
    """Tell a function with ``with torch.inference_mode():`` in it."""
    return any(
        isinstance(node, ast.Call) and module.is_named(node.func, "torch.inference_mode")
        for node in descend(*function.body)
    )


def _is_stage(function: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> bool:
    """Tell whether a function is a stage of a pipeline: it runs once for each generation."""
    owner = module.parent(function)
    name = owner.name if isinstance(owner, ast.ClassDef) else ""
    return function.name == "__call__" and _STAGE.search(name) is not None


def _calls_model(loop: ast.AST, module: Module) -> bool:
    """Tell whether a loop calls a model each turn: decoding, or evaluation."""
    return any(
        isinstance(node, ast.Call)
        and MODEL.search(_computing(node.func)) is not None
        and not _MAKES.match(_computing(node.func))
        and not module.is_imported(node.func)
        for node in descend(loop)
    )


def _computing(callee: ast.expr) -> str:
    """Return the name of what a call computes with: ``net`` of ``net(x)`` and ``net.step(x)``."""
    if isinstance(callee, ast.Attribute) and callee.attr in _METHODS:
        callee = callee.value
    return str(getattr(callee, "attr", getattr(callee, "id", "")))


def _is_epoch(loop: ast.For | ast.AsyncFor | ast.While) -> bool:
    """Tell whether a loop runs over epochs, by its target or what it iterates over."""
    parts = [loop.test] if isinstance(loop, ast.While) else [loop.target, loop.iter]
    words = (getattr(n, "attr", getattr(n, "id", "")) for p in parts for n in descend(p))
    return any(_EPOCH.search(word) for word in words)


def _inner_loops(node: ast.AST, module: Module) -> Iterator[ast.AST]:
    """Iterate over the loops over batches inside a loop or a function."""
    for inner in descend(node):
        is_loop = isinstance(inner, _LOOPS) and inner is not node
        if is_loop and isinstance(inner, _LOOPS) and module.context(inner.body[0]).training:
            yield inner


def is_replaced(node: ast.AST, module: Module) -> bool:
    """Tell whether ``node`` is of a class whose ``forward`` a TPU does not run as written."""
    owner = module.classes.enclosing(node)
    used = owner.decorator_list if owner is not None else ()
    callees = [d.func if isinstance(d, ast.Call) else d for d in used]
    return any(getattr(c, "attr", getattr(c, "id", "")) in _REPLACED for c in callees)


def is_rare(node: ast.AST, module: Module) -> bool:
    """Tell whether a condition makes ``node`` run seldom: ``if step % 100 == 0``, an error."""
    child, parent = node, module.parent(node)
    while parent is not None and not isinstance(child, _FUNCTIONS):
        if isinstance(parent, ast.Raise | ast.ExceptHandler | ast.Lambda):
            return True
        if isinstance(parent, ast.Assert) and child is parent.msg:
            return True
        if isinstance(parent, ast.If) and _is_rare_arm(child, parent, module):
            return True
        if isinstance(parent, ast.BoolOp) and _is_seldom_before(child, parent, module):
            return True
        if isinstance(child, ast.stmt) and (
            _is_skipped(child, parent) or _is_recovery(child, module)
        ):
            return True
        child, parent = parent, module.parent(parent)
    return False


def _is_rare_arm(child: ast.AST, statement: ast.If, module: Module) -> bool:
    """Tell whether ``child`` is of an arm that seldom runs."""
    if child is statement.test:
        return False
    if child in statement.body and _is_first(statement, module):
        return True
    arm = statement.body if child in statement.body else statement.orelse
    return isinstance(arm[-1], _LAST) or _is_seldom(statement.test, module)


def _is_first(statement: ast.If, module: Module) -> bool:
    """Tell ``if self.x is None: self.x = ...``, which runs the first time alone."""
    asked = _asked_for_none(statement.test)
    if asked is None:
        text = module.code(statement.test)
        flash = _FLASH.search(text) is not None and _DENIED.search(text) is None
        return flash or _HALF.search(text) is not None
    if _ONCE.match(asked.attr):
        return True
    text = module.code(asked)
    return any(
        isinstance(node, ast.Attribute)
        and (
            node.attr.endswith(asked.attr)  # self._init_x()
            if isinstance(module.parent(node), ast.Call)
            else isinstance(node.ctx, ast.Store) and module.code(node) == text
        )
        for node in descend(*statement.body)
    )


def _asked_for_none(test: ast.expr) -> ast.Attribute | None:
    """Return ``self.x`` of ``self.x is None``, ``not self.x``, ``self.first``."""
    found: ast.expr = test
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is):
        found = test.left if getattr(test.comparators[0], "value", "") is None else test
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        found = test.operand
    elif isinstance(test, ast.Attribute) and not _ONCE.match(test.attr):
        return None
    if not isinstance(found, ast.Attribute) or getattr(found.value, "id", "") != "self":
        return None
    return found


def _is_seldom_before(child: ast.AST, parent: ast.BoolOp, module: Module) -> bool:
    """Tell whether an operand before ``child`` makes it run seldom."""
    for value in parent.values:
        if value is child:
            return False
        half = isinstance(parent.op, ast.And) and _HALF.search(module.code(value))
        if half or _is_seldom(value, module):
            return True
    return False


def _is_recovery(statement: ast.stmt, module: Module) -> bool:
    """Tell what follows ``try: return ...`` in a block: it runs after an error alone."""
    block = module.index.block(statement)
    before = block[: block.index(statement)] if statement in block else []
    return any(isinstance(s, ast.Try) and isinstance(s.body[-1], ast.Return) for s in before)


def _is_skipped(statement: ast.stmt, parent: ast.AST) -> bool:
    """Tell whether ``if step % 100: continue`` stands before a statement of a loop's body."""
    if not isinstance(parent, _LOOPS) or statement not in parent.body:
        return False
    before = parent.body[: parent.body.index(statement)]
    return any(
        isinstance(s, ast.If) and isinstance(s.body[-1], ast.Continue) and _is_modulo(s.test)
        for s in before
    )


def _is_seldom(test: ast.expr, module: Module) -> bool:
    return _is_modulo(test) or _RARE.search(module.code(test)) is not None


def _is_modulo(test: ast.expr) -> bool:
    """Tell whether a test counts steps: a remainder, or a comparison with the first."""
    return any(
        (isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod))
        or (
            isinstance(n, ast.Compare)
            and isinstance(n.left, ast.Name)
            and isinstance(n.ops[0], ast.Eq)
            and isinstance(n.comparators[0], ast.Constant)
            and type(n.comparators[0].value) is int
        )
        for n in descend(test)
    )
