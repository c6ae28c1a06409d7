"""Replacements to suggest. Text for people, offered only when the registry backs it.

Each replacement computes the same values: a test runs both sides on the CPU, compares them, and
checks that ``uses`` names every op that the replacement ends in. Which of those ops have TPU
kernels is asked of the registry each time; a replacement with an op it does not hold as native is
not offered.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from op_registry.schema import Snapshot, Support

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """A call and an expression that may stand in its place."""

    call: str
    """The call in PyTorch's words, on tensors ``x``, ``y``... and plain numbers. Where it is a
    statement, ``x`` is its result."""
    instead: str
    """The expression that gives the same values."""
    uses: tuple[str, ...]
    """Op overloads that ``instead`` ends in."""
    host: str = ""
    """What is computed once, on the CPU, before: a statement."""


def _table(*entries: tuple[str, str, str, str]) -> Mapping[str, Replacement]:
    return MappingProxyType(
        {
            packet: Replacement(call=call, instead=instead, uses=tuple(uses.split()))
            for packet, call, instead, uses in entries
        }
    )


_HUBER = "torch.where((x - y).abs() < 1, 0.5 * (x - y) ** 2, (x - y).abs() - 0.5).mean()"
_HUBER_OPS = (
    "aten.sub.Tensor aten.abs.default aten.lt.Scalar aten.pow.Tensor_Scalar aten.mul.Tensor "
    "aten.where.self aten.mean.default"
)

REPLACEMENTS = _table(
    (
        "aten.mish",
        "F.mish(x)",
        "x * torch.tanh(F.softplus(x))",
        "aten.softplus.default aten.tanh.default aten.mul.Tensor",
    ),
    (
        "aten.std_mean",
        "torch.std_mean(x, dim=-1)",
        "(x.std(dim=-1), x.mean(dim=-1))",
        "aten.std.correction aten.mean.dim",
    ),
    (
        "aten.copysign",
        "torch.copysign(x, y)",
        "torch.where(torch.signbit(y), -x.abs(), x.abs())",
        "aten.signbit.default aten.abs.default aten.neg.default aten.where.self",
    ),
    (
        "aten.logaddexp",
        "torch.logaddexp(x, y)",
        "torch.stack((x, y)).logsumexp(0)",
        "aten.stack.default aten.logsumexp.default",
    ),
    (
        "aten.hardshrink",
        "F.hardshrink(x, 0.5)",
        "torch.where(x.abs() > 0.5, x, 0.0)",
        "aten.abs.default aten.gt.Scalar aten.scalar_tensor.default aten.where.self",
    ),
    (
        "aten.median.default",
        "torch.median(x)",
        "x.flatten().sort().values[(x.numel() - 1) // 2]",
        "aten.view.default aten.sort.default aten.select.int",
    ),
    (
        "aten.softshrink",
        "F.softshrink(x, 0.5)",
        "torch.sign(x) * F.relu(x.abs() - 0.5)",
        "aten.sign.default aten.abs.default aten.sub.Tensor aten.relu.default aten.mul.Tensor",
    ),
    (
        "aten.smooth_l1_loss",
        "F.smooth_l1_loss(x, y)",
        _HUBER,
        _HUBER_OPS,
    ),
    (
        "aten.huber_loss",
        "F.huber_loss(x, y)",
        _HUBER,
        _HUBER_OPS,
    ),
    (
        "aten.nansum",
        "torch.nansum(x)",
        "torch.where(torch.isnan(x), 0.0, x).sum()",
        "aten.isnan.default aten.scalar_tensor.default aten.where.self aten.sum.default",
    ),
    (
        "aten.trace",
        "torch.trace(x)",
        "x.diagonal().sum()",
        "aten.diagonal.default aten.sum.default",
    ),
    (
        "aten.heaviside",
        "torch.heaviside(x, y)",
        "torch.where(x == 0, y, (x > 0).to(x.dtype))",
        "aten.eq.Scalar aten.gt.Scalar aten._to_copy.default aten.where.self",
    ),
    (
        "aten.linalg_cross",
        "torch.linalg.cross(x, y)",
        "x.roll(-1, -1) * y.roll(-2, -1) - x.roll(-2, -1) * y.roll(-1, -1)",
        "aten.roll.default aten.mul.Tensor aten.sub.Tensor",
    ),
    (
        "aten.addbmm",
        "torch.addbmm(x, a, b)",
        "x + torch.bmm(a, b).sum(0)",
        "aten.bmm.default aten.sum.dim_IntList aten.add.Tensor",
    ),
)
"""Ops -> what may stand in their place, with the same values. Keyed by packet, or by overload where
another overload means something else."""


def _resize(mode: str) -> Replacement:
    """Antialiased resizing is linear and separable: two products with fixed matrices."""
    return Replacement(
        call=f'F.interpolate(v, size=(3, 2), mode="{mode}", antialias=True)',
        instead="rows @ v @ cols",
        uses=(
            "aten.expand.default",
            "aten.view.default",
            "aten._unsafe_view.default",
            "aten.transpose.int",
            "aten.mm.default",
            "aten.bmm.default",
        ),
        host=_RESIZE_MATRICES.format(mode=mode),
    )


_RESIZE_MATRICES = (
    "resize = lambda n, m: F.interpolate(torch.eye(n)[None, None], size=(m, n), "
    'mode="{mode}", antialias=True)[0, 0]; '
    "rows, cols = resize(v.shape[-2], 3), resize(v.shape[-1], 2).T"
)

SEPARABLE: Mapping[str, Replacement] = MappingProxyType(
    {f"aten._upsample_{mode}2d_aa": _resize(mode) for mode in ("bilinear", "bicubic")}
)
"""Antialiased resizing, as matrix products."""


AVOIDING_SYNC = _table(
    (
        "aten.repeat_interleave",
        "torch.repeat_interleave(x, n, dim=0)",
        "torch.repeat_interleave(x, n, dim=0, output_size=total)",
        "aten.repeat_interleave.Tensor aten.index_select.default",
    ),
    (
        "aten.nonzero",
        "x[mask].sum()",
        "torch.where(mask, x, 0.0).sum()",
        "aten.scalar_tensor.default aten.where.self aten.sum.default",
    ),
    (
        "aten.index",
        "x[mask].sum()",
        "torch.where(mask, x, 0.0).sum()",
        "aten.scalar_tensor.default aten.where.self aten.sum.default",
    ),
    (
        "aten.masked_select",
        "x.masked_select(mask).sum()",
        "torch.where(mask, x, 0.0).sum()",
        "aten.scalar_tensor.default aten.where.self aten.sum.default",
    ),
    (
        "aten.masked_fill",
        "x.masked_fill(mask, s)",
        "torch.where(mask, s, x)",
        "aten.where.self",
    ),
    (
        "aten.masked_fill_",
        "x.masked_fill_(mask, s)",
        "torch.where(mask, s, x)",
        "aten.where.self",
    ),
    (
        "aten.index_put",
        "x.index_put((mask,), w)",
        "x.masked_scatter(mask, w)",
        "aten.masked_scatter.default",
    ),
    (
        "aten.index_put_",
        "x[mask] = w",
        "x.masked_scatter_(mask, w)",
        "aten.masked_scatter_.default",
    ),
    (
        "aten.bincount",
        "torch.bincount(n, minlength=8)",
        "(n[:, None] == torch.arange(8)).sum(0)",
        "aten.unsqueeze.default aten.arange.default aten.eq.Tensor aten.sum.dim_IntList",
    ),
)
"""Ops that read back to the host -> the same computed without."""


KEEPING_GRADIENT = _table(
    (
        "aten.avg_pool1d",
        "F.avg_pool1d(c, 2)",
        "F.avg_pool2d(c.unsqueeze(-2), (1, 2)).squeeze(-2)",
        "aten.unsqueeze.default aten.avg_pool2d.default aten.squeeze.dim",
    ),
)
"""Ops whose TPU kernel loses the gradient -> the same through ops that keep it."""


def replacement(op: str, snapshot: Snapshot) -> str | None:
    """Return how to write ``op`` with native ops, or None when nothing proven is known."""
    packet = op.rpartition(".")[0]
    found = REPLACEMENTS.get(op) or REPLACEMENTS.get(packet) or SEPARABLE.get(packet)
    if found is None or not _backed(found, snapshot):
        return None
    once = f" after computing once on the CPU: `{found.host}`" if found.host else ""
    return f"Write `{found.call}` as `{found.instead}`{once}. Same values, and TPU kernels only."


def avoiding_sync(packet: str, snapshot: Snapshot) -> str | None:
    """Return how to do without the host read of ``packet``, or None."""
    found = AVOIDING_SYNC.get(packet)
    if found is None or not _backed(found, snapshot):
        return None
    return (
        f"Stay on the device, in fixed shapes: for example `{found.instead}` in place of "
        f"`{found.call}`."
    )


def keeping_gradient(packet: str, snapshot: Snapshot) -> str | None:
    """Return how to compute ``packet`` so that training reaches what is behind it, or None."""
    found = KEEPING_GRADIENT.get(packet)
    if found is None or not _backed(found, snapshot):
        return None
    return f"For training write `{found.call}` as `{found.instead}`: same values, with a gradient."


def _backed(found: Replacement, snapshot: Snapshot) -> bool:
    """Whether the registry holds every op of the replacement as native."""
    records = [snapshot.get(op) for op in found.uses]
    return all(record is not None and record.support is Support.NATIVE for record in records)
