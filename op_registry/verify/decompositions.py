"""Decompositions are unique up to signs or phases: what they compose to is not.

Their results are replaced, on both sides of a comparison, by what has to agree: the product of the
factors, the values that are unique, and the products that show that a factor is orthogonal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch  # noqa: TC002 - one import style where tensors are the subject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Results = Sequence[torch.Tensor]


def invariants(op: str, results: Results) -> list[torch.Tensor]:
    """Return what of the ``results`` of ``op`` (``aten.linalg_qr.default``) is unique.

    The results themselves when the op is no such decomposition, or returns only part of one.
    """
    rule = _RULES.get(op.split(".")[1].removeprefix("_"))
    factored = rule(results) if rule and all(_is_matrix_like(r) for r in results) else None
    return list(results) if factored is None else [*factored]


def _is_matrix_like(tensor: torch.Tensor) -> bool:
    return (tensor.is_floating_point() or tensor.is_complex()) and tensor.dim() > 0


def _qr(results: Results) -> Results | None:
    q, r = results
    if q.numel() == 0:
        return [r.mH @ r, r.tril(-1)]
    return [q @ r, q.mH @ q, r.tril(-1)]


def _svd(results: Results) -> Results | None:
    u, values, vh = results
    if u.numel() == 0 or vh.numel() == 0:
        return [values]
    rank = values.shape[-1]
    product = (u[..., :rank] * values.unsqueeze(-2).to(u.dtype)) @ vh[..., :rank, :]
    return [product, values, u.mH @ u, vh @ vh.mH]


def _svd_with_v(results: Results) -> Results | None:
    u, values, v = results
    return _svd([u, values, v.mH])


def _eigh(results: Results) -> Results | None:
    values, vectors = results
    if vectors.numel() == 0:
        return [values]
    product = (vectors * values.unsqueeze(-2).to(vectors.dtype)) @ vectors.mH
    return [product, values, vectors.mH @ vectors]


_RULES: Mapping[str, Callable[[Results], Results | None]] = {
    "linalg_qr": _qr,
    "qr": _qr,
    "linalg_svd": _svd,
    "svd": _svd_with_v,
    "linalg_eigh": _eigh,
}
"""By the op's name without a leading underscore."""
