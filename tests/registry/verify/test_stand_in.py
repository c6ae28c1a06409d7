"""Reference kernels in place of eager PyTorch."""

from __future__ import annotations

from typing import Any

import torch

from op_registry.verify.stand_in import fitted
from op_registry.verify.values import Expected


class _Lowered:
    def __init__(self, *shapes: tuple[torch.dtype, tuple[int, ...]]) -> None:
        self.shapes = shapes


def _expected(*outputs: torch.Tensor) -> Expected:
    return Expected(
        outputs=list(outputs), reference=None, undefined=(), hidden=frozenset(), by_reference=True
    )


def test_results_that_a_kernel_leaves_out_are_undefined() -> None:
    """Output and log-sum-exp are compared; a random state between them is not."""
    out, rows = torch.ones(2, 3), torch.zeros(2)
    lowered: Any = _Lowered((torch.float32, (2, 3)), (torch.int64, (1,)), (torch.float32, (2,)))
    found = fitted(_expected(out, rows), lowered)
    assert found.undefined == (1,)
    assert [tuple(one.shape) for one in found.outputs] == [(2, 3), (1,), (2,)]
    assert found.outputs[2] is rows
