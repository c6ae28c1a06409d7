"""Quantised products where hand-made samples do not go: overflow and wrong arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from op_registry.reference.kernels.int4_matmul_cpu import (
    convert_weight_to_int4pack_for_cpu,
    weight_int4pack_mm_for_cpu,
)
from op_registry.reference.kernels.int4_matmul_cuda import (
    convert_weight_to_int4pack,
    weight_int4pack_mm,
)
from op_registry.reference.kernels.int_matmul import int_mm, weight_int8pack_mm

if TYPE_CHECKING:
    from collections.abc import Callable

BYTES = torch.ones(2, 2, dtype=torch.int8)


@pytest.mark.parametrize("inner", [1023, 1024, 1025, 200_000])
def test_the_largest_sums_are_exact(inner: int) -> None:
    """Sums beyond what float32 counts exactly are those of int32, which wrap around."""
    left = torch.full((1, inner), -128, dtype=torch.int8)
    left[0, 0] = 127
    total = (left.long() * left.long()).sum()
    found = int_mm(left, left.t().contiguous())
    assert found.dtype is torch.int32
    assert found.item() == total.to(torch.int32).item()


@pytest.mark.parametrize("block", ["AVX512", "AVX2", "DEFAULT"])
def test_each_form_for_cpus_is_read_as_it_was_packed(
    block: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the host's CPU is, the product with packed weights is that with the weights."""
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: block)
    numbers = torch.randint(0, 16, (112, 64), dtype=torch.int32)
    parameters = torch.stack([torch.ones(2, 112), torch.zeros(2, 112)], -1)
    packed = convert_weight_to_int4pack_for_cpu(numbers, 2)
    found = weight_int4pack_mm_for_cpu(torch.eye(64), packed, 32, parameters)
    torch.testing.assert_close(found.t(), numbers.float() - 8, rtol=0, atol=0)


def test_the_form_for_gpus_is_read_as_it_was_packed() -> None:
    """The product of packed weights and the identity gives the numbers back, in their places."""
    numbers = torch.randint(0, 16, (16, 128), dtype=torch.uint8)
    packed = convert_weight_to_int4pack(numbers[:, ::2] << 4 | numbers[:, 1::2], 4)
    parameters = torch.stack([torch.ones(4, 16), torch.zeros(4, 16)], -1).bfloat16()
    found = weight_int4pack_mm(torch.eye(128).bfloat16(), packed, 32, parameters)
    torch.testing.assert_close(found.t().float(), numbers.float() - 8, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: int_mm(BYTES, BYTES.int()), "int8"),
        (lambda: int_mm(BYTES, torch.ones(3, 2, dtype=torch.int8)), "needs to match"),
        (lambda: int_mm(BYTES[0], BYTES), "expected matrices"),
        (lambda: weight_int8pack_mm(torch.ones(1, 2), BYTES, torch.ones(3)), "one scale a row"),
        (lambda: weight_int8pack_mm(BYTES, BYTES, torch.ones(2)), "expect A to be float"),
        (lambda: convert_weight_to_int4pack_for_cpu(torch.ones(8, 2).int(), 2), "multiples of 16"),
        (lambda: convert_weight_to_int4pack(torch.ones(8, 8).byte(), 2), "multiples of 32"),
        (lambda: convert_weight_to_int4pack(torch.ones(8, 16).byte(), 3), "2, 4, or 8"),
    ],
)
def test_wrong_arguments_are_told(call: Callable[[], torch.Tensor], told: str) -> None:
    """Dtypes and sizes that eager refuses are refused by name."""
    with pytest.raises(RuntimeError, match=told):
        call()
