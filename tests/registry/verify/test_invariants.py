"""Results that are not unique agree by what they have in common."""

from __future__ import annotations

import pytest
import torch

from op_registry.verify.collect import NOT_UNIQUE
from op_registry.verify.compare import compare
from op_registry.verify.invariants import RULES, invariants

A = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
SIGNS = torch.tensor([1.0, -1.0, -1.0])


def agree(op: str, answers: list[torch.Tensor], eager: list[torch.Tensor]) -> bool:
    """Compare what is unique of both."""
    return compare(invariants(op, answers), invariants(op, eager), tolerance=(1e-4, 1e-4)) is None


def test_qr() -> None:
    """Flipped signs agree; a scaled factor and one that is not triangular do not."""
    q, r = torch.linalg.qr(A)
    flipped = [q * SIGNS, SIGNS[:, None] * r]

    assert agree("aten.linalg_qr.default", flipped, [q, r])
    assert not agree("aten.linalg_qr.default", [2 * q, r / 2], [q, r])
    assert not agree("aten.linalg_qr.default", [A @ A.T @ q, r], [q, r])
    only_r = [torch.empty(0), r]
    assert agree("aten.linalg_qr.default", [torch.empty(0), SIGNS[:, None] * r], only_r)
    assert not agree("aten.linalg_qr.default", [torch.empty(0), 2 * r], only_r)


@pytest.mark.parametrize("full", [False, True])
def test_svd(full: bool) -> None:
    """Flipped signs of a pair of vectors agree, of one of the two they do not."""
    u, values, vh = torch.linalg.svd(A, full_matrices=full)
    left = u.clone()
    left[:, :3] *= SIGNS

    assert agree("aten._linalg_svd.default", [left, values, SIGNS[:, None] * vh], [u, values, vh])
    assert not agree("aten._linalg_svd.default", [left, values, vh], [u, values, vh])
    assert agree("aten.svd.default", [left, values, vh.mH * SIGNS], [u, values, vh.mH])
    assert agree("prims.svd.default", [left, values, SIGNS[:, None] * vh], [u, values, vh])


def test_eigh() -> None:
    """Flipped vectors agree; wrong values do not."""
    values, vectors = torch.linalg.eigh(A.T @ A)

    assert agree("aten._linalg_eigh.default", [values, vectors * SIGNS], [values, vectors])
    assert not agree("aten._linalg_eigh.default", [values + 1, vectors], [values, vectors])


def test_others_are_left_alone() -> None:
    """Results of any other op are compared as they are."""
    assert invariants("aten.add.Tensor", [A])[0] is A


def test_ties() -> None:
    """An unstable choice among equal elements may take any of them; another element is wrong."""
    x = torch.tensor([3.0, 5.0, 5.0, 1.0])
    top = torch.tensor([5.0, 5.0])
    call = ((x,), {"dim": -1})

    def indices(*numbers: int) -> list[torch.Tensor]:
        return invariants("aten.topk.default", [top, torch.tensor(numbers)], *call)

    assert compare(indices(2, 1), indices(1, 2)) is None
    assert compare(indices(1, 3), indices(1, 2)) is not None


def test_stable_order_is_unique() -> None:
    """A stable sort has one right answer."""
    x, order = torch.tensor([1.0, 1.0]), torch.tensor([1, 0])

    found = invariants("aten.sort.stable", [x, order], [x], {"dim": 0, "stable": True})

    assert found[1] is order


def test_wrong_results_are_left_to_the_comparison() -> None:
    """Factors that do not multiply come back as they are, for a message about their shapes."""
    q, r = torch.ones(3, 2), torch.ones(4, 4)

    assert invariants("aten.linalg_qr.default", [q, r])[1] is r
    assert len(invariants("aten.linalg_qr.default", [q])) == 1


def test_names() -> None:
    """The parent, which has no torch, knows which ops have a rule."""
    assert RULES.keys() == NOT_UNIQUE
