"""Matrix products and convolutions as sums of products."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._vjp import wide
from op_registry.reference.kernels._windows import each

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOURCE = "definition: sums of products"
_SUMS = "as `sum`, in float32 for shorter types: eager adds in another order"


_CONVOLUTIONS = tuple(
    f"nn.functional.conv{kind}{rank}d" for kind in ("", "_transpose") for rank in (1, 2, 3)
)


@kernel("aten.mm.default", source=_SOURCE, accuracy=_SUMS)
def mm(self: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """Return the product of two matrices, (n, k) and (k, m)."""
    if self.dim() != 2 or mat2.dim() != 2:
        raise RuntimeError("self must be a matrix and mat2 must be a matrix")
    return bmm(self.unsqueeze(0), mat2.unsqueeze(0)).squeeze(0)


@kernel("aten.bmm.default", source=_SOURCE, accuracy=_SUMS)
def bmm(self: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """Return the products of the matrices of two batches, (b, n, k) and (b, k, m)."""
    if self.dim() != 3 or mat2.dim() != 3:
        raise RuntimeError("batch1 and batch2 must be 3D tensors")
    if self.shape[0] != mat2.shape[0] or self.shape[2] != mat2.shape[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: "
            f"[{self.shape[0]}, {self.shape[2]}] but got: [{mat2.shape[0]}, {mat2.shape[1]}]."
        )
    if self.dtype != mat2.dtype:
        raise RuntimeError(f"expected scalar types to agree, got {self.dtype} and {mat2.dtype}")
    products = wide(self).unsqueeze(-1) * wide(mat2).unsqueeze(-3)
    return products.sum(-2, dtype=products.dtype).to(self.dtype)


@kernel("aten.addmv.default", source=_SOURCE, accuracy=_SUMS)
def addmv(
    self: torch.Tensor, mat: torch.Tensor, vec: torch.Tensor, *, beta: Any = 1, alpha: Any = 1
) -> torch.Tensor:
    """Return ``beta`` self + ``alpha`` times the product of (n, k) ``mat`` and (k) ``vec``.

    With ``beta`` zero, self is not read, whatever it holds.
    """
    if mat.dim() != 2 or vec.dim() != 1:
        raise RuntimeError("vector + matrix @ vector expected")
    if not (self.is_floating_point() or self.is_complex()):
        beta, alpha = int(beta), int(alpha)
    products = wide(mat) * wide(vec)
    found: torch.Tensor = alpha * products.sum(-1, dtype=products.dtype)
    return (found if beta == 0 else found + beta * wide(self)).to(self.dtype)


@kernel("aten.convolution.default", source=_SOURCE, accuracy=_SUMS, samples=_CONVOLUTIONS)
def convolution(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> torch.Tensor:
    """Return the convolution of ``input`` (batch, channels, *space) with ``weight``.

    ``weight`` is (out, in / groups, *kernel); transposed, (in, out / groups, *kernel). The input is
    padded, read once for each element of the kernel, and the reads are multiplied and summed. A
    transposed convolution is one of the input with zeros between its elements.
    """
    rank = weight.dim() - 2
    unbatched = input.dim() == rank + 1
    data = wide(input.unsqueeze(0) if unbatched else input)
    steps = each(stride, rank)
    pads, spread = each(padding, rank), each(dilation, rank)
    weights = wide(weight)
    if transposed:
        data, weights = _spread(data, steps), _turned(weights, groups)
        reach = [d * (k - 1) for d, k in zip(spread, weight.shape[2:], strict=True)]
        more = each(output_padding, rank)
        edges = [(r - p, r - p + m) for r, p, m in zip(reach, pads, more, strict=True)]
        steps = [1] * rank
    else:
        edges = [(p, p) for p in pads]
    flat = [side for edge in reversed(edges) for side in edge]
    result = _correlated(torch.constant_pad_nd(data, flat), weights, steps, spread, groups)
    result = result.to(input.dtype)
    if bias is not None:
        result = result + bias.reshape(-1, *[1] * rank)
    return result.squeeze(0) if unbatched else result


def _spread(data: torch.Tensor, steps: Sequence[int]) -> torch.Tensor:
    """Put ``step - 1`` zeros between neighbours in each dimension of space."""
    for place, step in enumerate(steps):
        dim = place + 2
        if step > 1 and data.shape[dim]:
            zeros = torch.zeros_like(data).unsqueeze(dim + 1)
            apart = [data.unsqueeze(dim + 1), *[zeros] * (step - 1)]
            length = (data.shape[dim] - 1) * step + 1
            data = torch.cat(apart, dim + 1).flatten(dim, dim + 1).narrow(dim, 0, length)
    return data


def _turned(weights: torch.Tensor, groups: int) -> torch.Tensor:
    """Return the weights of the plain convolution that a transposed one comes to."""
    split = weights.unflatten(0, (groups, -1)).transpose(1, 2).flatten(0, 1)
    turned: torch.Tensor = split.flip(list(range(2, split.dim())))
    return turned


def _correlated(
    data: torch.Tensor,
    weights: torch.Tensor,
    steps: Sequence[int],
    spread: Sequence[int],
    groups: int,
) -> torch.Tensor:
    kernel_size = weights.shape[2:]
    sizes = [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, d, s in zip(data.shape[2:], kernel_size, spread, steps, strict=True)
    ]
    data = data.unflatten(1, (groups, data.shape[1] // groups if groups else 0))
    filters = weights.unflatten(0, (groups, -1))
    shape = (data.shape[0], groups, filters.shape[1], *sizes)
    total = torch.zeros(shape, dtype=data.dtype, device=data.device)
    for offsets in itertools.product(*map(range, kernel_size)):  # over the kernel's elements
        read = data
        for place, (offset, d, s) in enumerate(zip(offsets, spread, steps, strict=True)):
            start, stop = offset * d, offset * d + (sizes[place] - 1) * s + 1
            read = read[(slice(None),) * (place + 3) + (slice(start, stop, s),)]
        tap = filters[(..., *offsets)]
        products = read.unsqueeze(2) * tap.reshape(*tap.shape, *[1] * len(sizes))
        total = total + products.sum(3, dtype=products.dtype)
    return total.flatten(1, 2)
