"""``_functional_assert_async``: an assertion in a program without side effects."""

from __future__ import annotations

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
