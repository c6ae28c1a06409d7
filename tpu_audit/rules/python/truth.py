"""Tests for devices, as a process on a TPU answers them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, TypeGuard

from tpu_audit.rules.python.scopes import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tpu_audit.rules.python.module import Module

OTHER_DEVICES = frozenset(
    {
        *("cuda", "gpu", "mps", "npu", "xpu", "hip", "hpu", "mlu", "musa", "rocm", "xla", "ipu"),
        *("cudaexecutionprovider", "tensorrtexecutionprovider", "rocmexecutionprovider"),
        *("privateuseone", "neuron", "maia", "mtia", "sdaa", "gcu", "qaic", "vulkan", "opencl"),
    }
)
"""Device types that a device on a TPU does not have."""
_FALSE = frozenset(
    {
        "torch.cuda.is_available",
        "torch.cuda.is_initialized",
        "torch.cuda.is_bf16_supported",
        "torch.cuda.device_count",
        "torch.cuda.default_generators",
        "faiss.get_num_gpus",
        "torch.version.cuda",
        "torch.version.hip",
        "torch.backends.cuda.is_built",
        "torch.backends.cudnn.is_available",
        "torch.backends.mps.is_available",
        "torch.backends.mps.is_built",
        "torch.mps.is_available",
        "torch.xpu.is_available",
        "torch.npu.is_available",
        "torch.hpu.is_available",
        "torch.mlu.is_available",
        "torch.musa.is_available",
        "torch.mtia.is_available",
        "torch.distributed.is_nccl_available",
    }
)
_FALSE_HELPERS = frozenset(
    {
        *("is_torch_cuda_available", "is_cuda_available", "cuda_is_available", "has_cuda"),
        *("is_torch_npu_available", "is_npu_available", "is_torch_mlu_available"),
        *("is_torch_mps_available", "is_mps_available", "is_torch_xpu_available"),
        *("is_xpu_available", "is_torch_hpu_available", "is_hpu_available", "is_mlu_available"),
        *("is_torch_musa_available", "is_musa_available", "cuda_available", "is_ipu_available"),
        *("is_flash_attn_2_available", "is_flash_attn_3_available", "is_flash_attn_available"),
        *("is_rocm", "is_hip", "is_cuda_platform", "is_torch_xla_available"),
        *("is_sagemaker_mp_enabled", "is_sagemaker_dp_enabled", "is_nccl_available"),
    }
)
"""Helpers of libraries, by their last name: no CUDA library can be installed on a TPU host."""
_TRUE = frozenset(
    {
        "torch.accelerator.is_available",
        "torch.accelerator.device_count",
        "torch.accelerator.current_accelerator",
        "torch.tpu.is_available",
    }
)
_TRUE_HELPERS = frozenset(
    {
        *("get_current_accelerator", "current_accelerator", "is_torch_tpu_available"),
        "check_cuda_p2p_ib_support",
    }
)
_FALSE_ATTRIBUTES = frozenset(
    {"is_cuda", "has_cuda", "is_mps", "is_xpu", "is_npu", "is_hpu", "is_cpu"}
)
_OF_AMD = re.compile(r"(?:HIP|ROCR|ROCM|HSA)_")
"""Variables of AMD's, which nobody sets on a TPU's host."""
_NO_KERNELS = re.compile(r"^_?(?:HAS|SUPPORTS|USE)_FLEX_ATTENTION$")
"""Flags that libraries set by a CUDA device's capability."""
_NEVER = frozenset({ast.Eq, ast.In, ast.Is})
_ALWAYS = frozenset({ast.NotEq, ast.NotIn, ast.IsNot})
_NUMBERS = {
    ast.Gt: int.__gt__,
    ast.GtE: int.__ge__,
    ast.Lt: int.__lt__,
    ast.LtE: int.__le__,
    ast.Eq: int.__eq__,
    ast.NotEq: int.__ne__,
}


class Truths:
    """Answers the tests of one module for a TPU: true, false, or None where that is not known.

    Only what follows from the device is known; options and settings of the user are not.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self._answers: dict[type[ast.expr], Callable[[Any], bool | None]] = {
            ast.UnaryOp: self._not,
            ast.BoolOp: self._bool_op,
            ast.Compare: self._compare,
            ast.Call: self._call,
            ast.IfExp: self._if_exp,
            ast.NamedExpr: self._walrus,
            ast.Attribute: self._attribute,
            ast.Name: self._name,
        }
        self._known: dict[ast.expr, bool | None] = {}

    def of(self, node: ast.expr) -> bool | None:
        """Return the truth of a test on a TPU."""
        if node not in self._known:
            self._known[node] = None  # for what refers to itself
            self._known[node] = self._compute(node)
        return self._known[node]

    def _compute(self, node: ast.expr) -> bool | None:
        answer = self._answers.get(type(node))
        return None if answer is None else answer(node)

    def _not(self, node: ast.UnaryOp) -> bool | None:
        truth = self.of(node.operand) if isinstance(node.op, ast.Not) else None
        return None if truth is None else not truth

    def _walrus(self, node: ast.NamedExpr) -> bool | None:
        return self.of(node.value)

    def _bool_op(self, node: ast.BoolOp) -> bool | None:
        deciding = isinstance(node.op, ast.Or)
        truths = [self.of(value) for value in node.values]
        if deciding in truths:
            return deciding
        return None if None in truths else not deciding

    def _if_exp(self, node: ast.IfExp) -> bool | None:
        test = self.of(node.test)
        if test is not None:
            return self.constant(node.body if test else node.orelse)
        if _asks_for_none(node.test, node.orelse):
            return self.constant(node.body)  # the answer, unless a caller gives another
        return _agreed([self.constant(node.body), self.constant(node.orelse)])

    def constant(self, node: ast.expr) -> bool | None:
        """Return the truth of a test or of a constant."""
        return bool(node.value) if isinstance(node, ast.Constant) else self.of(node)

    def _name(self, node: ast.Name) -> bool | None:
        bindings = self._module.scopes.bindings(node)
        if bindings and self._module.libraries.soft_flag(node):
            return False
        if any(b.kind is not Kind.ASSIGN or b.value is None for b in bindings):
            return False if _NO_KERNELS.search(node.id) else self._named(node)
        truths = [self.constant(b.value) for b in bindings if b.value is not None]
        if False in truths and node.id.endswith("cuda_available"):
            return False  # the other value is a placeholder: "not known yet"
        return _agreed(truths) if truths else self._named(node)

    def _attribute(self, node: ast.Attribute) -> bool | None:
        if node.attr in _FALSE_ATTRIBUTES and not self._stores(node):
            return False
        known = self._named(node)
        if known is not None:
            return known
        stores = [s for s in self._stores(node) if not self._module.reach(s).dead]
        if any(self._switches_off(value) for value in stores):
            return False
        return _agreed([self.constant(value) for value in stores])

    def _switches_off(self, value: ast.expr) -> bool:
        """Tell ``self.enabled = False`` where a test for CUDA has failed."""
        off = isinstance(value, ast.Constant) and value.value is False
        if not off:
            return False
        reach = self._module.reach(value)
        return reach.guard is not None and not reach.dead

    def _stores(self, node: ast.Attribute) -> Iterable[ast.expr]:
        """Return what is stored in ``self.x``, or in ``args.x`` by statements of this file."""
        if isinstance(node.value, ast.Name) and node.value.id not in {"self", "cls"}:
            return self._module.classes.stored_in(node.value.id, node.attr)
        return self._module.classes.stored(node)

    def _named(self, node: ast.expr) -> bool | None:
        names = self._module.qualified(node)
        if names and names <= _FALSE:
            return False
        return True if names and names <= _TRUE else None

    def _call(self, node: ast.Call) -> bool | None:
        named = self._named(node.func)
        if named is not None or _asks_for_autocast_of_cuda(node) or _asks_cuda(node.func):
            return bool(named)
        word = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if word == "startswith" and node.args and isinstance(node.func, ast.Attribute):
            return self.membership(node.func.value, node.args[:1], positive=True)
        if word in {"bool", "any", "all", "int"} and len(node.args) == 1:
            return self._all_of(node.args[0])
        if word in {"get", "getenv"} and node.args:
            return False if _OF_AMD.match(str(getattr(node.args[0], "value", ""))) else None
        own = self._own_helper(node.func) if isinstance(node.func, ast.Name) else None
        if own is not None or self._defined(node.func):
            return own
        return False if word in _FALSE_HELPERS else (word in _TRUE_HELPERS) or None

    def _all_of(self, node: ast.expr) -> bool | None:
        """Answer for what ``any``, ``all`` and ``bool`` are given: false if each of many is."""
        many = isinstance(node, ast.GeneratorExp | ast.ListComp)
        return (self.of(node.elt) and None) if many else self.of(node)  # type: ignore[attr-defined] # has elements

    def _defined(self, callee: ast.expr) -> bool:
        return isinstance(callee, ast.Name) and any(
            binding.kind is Kind.FUNCTION for binding in self._module.scopes.bindings(callee)
        )

    def _own_helper(self, callee: ast.Name) -> bool | None:
        """Answer ``use_gpu()`` by what the function of this file returns."""
        for binding in self._module.scopes.bindings(callee):
            if isinstance(binding.node, ast.FunctionDef):
                results = self._module.calls.returned(binding.node)
                return _agreed([self.constant(result) for result in results])
        return None

    def _compare(self, node: ast.Compare) -> bool | None:
        if len(node.ops) != 1:
            return None
        left, operator, right = node.left, node.ops[0], node.comparators[0]
        count = self._count(left, operator, right)
        if count is not None:
            return count
        kind = type(operator)
        if kind not in _NEVER | _ALWAYS:
            return None
        if _is_none(right):
            return self._is_none(left, kind)
        return self._device_test(left, operator, right)

    def _is_none(self, left: ast.expr, kind: type[ast.cmpop]) -> bool | None:
        truth = self.of(left)
        return None if truth is None else (kind in _NEVER) is not truth

    def _device_test(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool | None:
        positive = type(operator) in _NEVER
        if isinstance(operator, ast.In | ast.NotIn):
            if isinstance(left, ast.Constant):  # "cuda" in str(device)
                return self.membership(right, [left], positive=positive)
            return self.membership(left, self._module.elements(right), positive=positive)
        if isinstance(left, ast.Constant):
            left, right = right, left
        return self.membership(left, [right], positive=positive)

    def membership(
        self, device: ast.expr, others: list[ast.expr], *, positive: bool
    ) -> bool | None:
        """Answer whether a device is one of ``others``; ``positive`` false turns the answer."""
        kinds = {_kind(text) for other in others for text in self._texts(other)}
        if not kinds or isinstance(device, ast.Constant):
            return None
        if kinds == {"nccl"}:
            return not positive if self._is_backend(device, others) else None
        if "tpu" in kinds:
            return positive if kinds <= {"tpu"} | OTHER_DEVICES | {"cpu"} else None
        if not kinds <= OTHER_DEVICES and not (
            kinds <= OTHER_DEVICES | {"cpu", "meta"} and self._module.is_device(device)
        ):
            return None
        return None if self._may_be(device, kinds) else not positive

    def _is_backend(self, node: ast.expr, others: list[ast.expr]) -> bool:
        """Tell what a process group says of its backend: on a TPU it is not CUDA's."""
        attribute = any(isinstance(other, ast.Attribute) for other in others)
        if attribute and "backend" in str(getattr(node, "attr", getattr(node, "id", ""))):
            return True
        values = [b.value for b in self._module.scopes.bindings(node)] if _is_name(node) else [node]
        arms = [arm for v in values for arm in ([v.body, v.orelse] if _is_choice(v) else [v])]
        return any(map(self._asks_backend, arms)) and all(
            self._asks_backend(arm) or isinstance(arm, ast.Constant) for arm in arms
        )

    def _asks_backend(self, node: ast.expr | None) -> bool:
        return isinstance(node, ast.Call) and self._module.is_named(
            node.func, "torch.distributed.get_backend"
        )

    def _texts(self, node: ast.expr) -> list[str]:
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return [text for item in node.elts for text in self._texts(item)]
        if self._module.is_named(node, "torch.distributed.Backend.NCCL"):
            return ["nccl"]
        return [p.value if isinstance(p.value, str) else "?" for p in self._module.value(node)]

    def _may_be(self, device: ast.expr, kinds: set[str]) -> bool:
        """Whether the code as it stands gives ``device`` one of ``kinds`` even on a TPU."""
        values = self._module.value(device)
        return values.complete and any(
            isinstance(p.value, str)
            and _kind(p.value) in kinds
            and not self._module.reach(p.node).dead
            for p in values
        )

    def _count(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool | None:
        """Answer ``torch.cuda.device_count() > 1``: the count is 0."""
        compare = _NUMBERS.get(type(operator))
        if compare is None:
            return None
        if _is_int(right) and self._is_zero(left):
            return compare(0, right.value)  # type: ignore[attr-defined] # _is_int
        if _is_int(left) and self._is_zero(right):
            return compare(left.value, 0)  # type: ignore[attr-defined] # _is_int
        return None

    def _is_zero(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call):
            if getattr(node.func, "id", "") == "len" and len(node.args) == 1:
                return self._named(node.args[0]) is False
            names = self._module.qualified(node.func)
            return not names.isdisjoint({"torch.cuda.device_count", "faiss.get_num_gpus"})
        if isinstance(node, ast.Attribute):
            return "visible_gpus" in node.attr
        if not isinstance(node, ast.Name):
            return False
        values = [b.value for b in self._module.scopes.bindings(node)]
        return bool(values) and all(isinstance(v, ast.Call) and self._is_zero(v) for v in values)


def _asks_for_autocast_of_cuda(call: ast.Call) -> bool:
    """Tell ``torch.is_autocast_enabled()``: without a device it is about CUDA's."""
    callee = call.func
    return (
        isinstance(callee, ast.Attribute)
        and callee.attr == "is_autocast_enabled"
        and not call.args
        and not call.keywords
    )


def _asks_cuda(callee: ast.expr) -> bool:
    """Tell ``self._cuda_context.is_available``."""
    if not isinstance(callee, ast.Attribute) or callee.attr not in {"is_available", "device_count"}:
        return False
    holder = getattr(callee.value, "attr", getattr(callee.value, "id", ""))
    return "cuda" in str(holder).lower()


def _agreed(truths: list[bool | None]) -> bool | None:
    return truths[0] if truths and all(truth is truths[0] for truth in truths) else None


def _kind(text: str) -> str:
    return text.partition(":")[0].lower()


def _is_name(node: ast.expr) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def _is_choice(node: ast.expr | None) -> TypeGuard[ast.IfExp]:
    return isinstance(node, ast.IfExp)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _asks_for_none(test: ast.expr, other: ast.expr) -> bool:
    """Tell ``... if use_cuda is None else use_cuda``."""
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], ast.Is)
        and _is_none(test.comparators[0])
        and isinstance(test.left, ast.Name)
        and isinstance(other, ast.Name)
        and test.left.id == other.id
    )


def _is_int(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int
