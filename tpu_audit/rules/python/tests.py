"""Test functions that are skipped off CUDA: what a decorator says about running on a TPU."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpu_audit.rules.python.module import Module

_NEED_CUDA = frozenset(
    {
        *("require_torch_gpu", "require_cuda", "require_torch_multi_gpu", "require_flash_attn"),
        *("require_bitsandbytes", "requires_cuda", "onlyCUDA", "require_non_xpu_cuda"),
        *("skipIfNoCuda", "require_multi_gpu", "require_gpu", "requires_gpu", "skip_if_no_gpu"),
    }
)
_SKIP_IF = frozenset({"skipif", "skipIf"})
_SKIP_UNLESS = frozenset({"skipUnless"})


class TestMarks:
    """Reads decorators of one module's tests."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def runs(self, decorator: ast.expr) -> bool | None:
        """Return whether what is decorated runs on a TPU; None where it does not matter."""
        call = decorator if isinstance(decorator, ast.Call) else None
        callee = call.func if call is not None else decorator
        word = getattr(callee, "attr", getattr(callee, "id", ""))
        if word in _NEED_CUDA:
            return False
        if call is None or not call.args or word not in _SKIP_IF | _SKIP_UNLESS:
            return None
        truth = self._module.truth(call.args[0])
        if truth is None:
            return None
        # A test that runs on a TPU after all is nothing special.
        return False if truth is (word in _SKIP_IF) else None
