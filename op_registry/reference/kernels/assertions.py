"""``_functional_assert_async`` and its token: assertions in a program without side effects."""

from __future__ import annotations

from typing import Any

import torch

from op_registry.reference.declare import kernel


@kernel(
    "aten._functional_assert_async.msg",
    source="`aten._assert_async`, which torch-tpu has, and drops in a compiled program",
    accuracy="exact",
)
def functional_assert_async(
    self: torch.Tensor, assert_msg: str, dep_token: torch.Tensor
) -> torch.Tensor:
    """Assert that ``self``, one element, is not zero, and return a copy of ``dep_token``."""
    torch._assert_async(self, assert_msg)
    return dep_token.clone()


def _shape_alone(result: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    del args, kwargs
    return torch.zeros_like(result)


@kernel(
    "aten._make_dep_token.default",
    source="definition",
    accuracy="the value is anything, as eager's",
    canonical=_shape_alone,
)
def make_dep_token(
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    memory_format: torch.memory_format | None = None,
) -> torch.Tensor:
    """Return a tensor without dimensions that orders side effects by being handed on."""
    del layout, pin_memory, memory_format
    return torch.zeros((), dtype=dtype, device=device)
