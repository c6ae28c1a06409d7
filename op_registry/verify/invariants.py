"""What of an op's results is unique: only that can be asked of another implementation.

Decompositions are unique up to signs or phases, and an unstable choice among equal elements is
anybody's. Such results are replaced, on both sides of a comparison, by what has to agree: the
product of the factors, the products that show that a factor is orthogonal, the elements chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch  # noqa: TC002 - one import style where tensors are the subject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Results = Sequence[torch.Tensor]
    Arguments = Mapping[str, Any]
    Rule = Callable[[Results, Results, Arguments], Results | None]


def invariants(
    op: str, results: Results, inputs: Results = (), arguments: Arguments | None = None
) -> list[torch.Tensor]:
    """Return what of the ``results`` of ``op`` (``aten.linalg_qr.default``) is unique.

    ``inputs`` are the call's tensors, ``arguments`` its others by name. The results themselves
    when the op is no decomposition or choice, or when they do not fit together as one.
    """
    # prims.svd returns the right vectors as torch.linalg.svd does, aten.svd as torch.svd does.
    rule = _svd if op == "prims.svd.default" else RULES.get(op.split(".")[1].removeprefix("_"))
    if rule is None:
        return list(results)
    try:
        found = rule(results, inputs, arguments or {})
    except (RuntimeError, ValueError, IndexError):
        # Results of a wrong shape or dtype: the comparison says so.
        return list(results)
    return list(results if found is None else found)


def _qr(results: Results, _inputs: Results, _arguments: Arguments) -> Results:
    q, r = results
    if q.numel() == 0:
        return [r.mH @ r, r.tril(-1)]
    return [q @ r, q.mH @ q, r.tril(-1)]


def _svd(results: Results, _inputs: Results, _arguments: Arguments) -> Results:
    u, values, vh = results
    if u.numel() == 0 or vh.numel() == 0:
        return [values]
    rank = values.shape[-1]
    product = (u[..., :rank] * values.unsqueeze(-2).to(u.dtype)) @ vh[..., :rank, :]
    return [product, values, u.mH @ u, vh @ vh.mH]


def _svd_with_v(results: Results, inputs: Results, arguments: Arguments) -> Results:
    u, values, v = results
    return _svd([u, values, v.mH], inputs, arguments)


def _eigh(results: Results, _inputs: Results, _arguments: Arguments) -> Results:
    values, vectors = results
    if vectors.numel() == 0:
        return [values]
    product = (vectors * values.unsqueeze(-2).to(vectors.dtype)) @ vectors.mH
    return [product, values, vectors.mH @ vectors]


def _chosen(results: Results, inputs: Results, arguments: Arguments) -> Results | None:
    """Put the elements in the place of their indices, which come last."""
    if arguments.get("stable"):
        return None
    *values, indices = results
    if inputs[0].dim() == 0:
        return [*values, indices]
    return [*values, inputs[0].gather(arguments.get("dim", -1), indices)]


RULES: Mapping[str, Rule] = {
    "linalg_qr": _qr,
    "qr": _qr,
    "linalg_svd": _svd,
    "svd": _svd_with_v,
    "linalg_eigh": _eigh,
    "topk": _chosen,
    "sort": _chosen,
    "argsort": _chosen,
}
"""By the op's name without a leading underscore."""
