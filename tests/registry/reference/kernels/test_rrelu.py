"""Randomised ReLU: what follows from given slopes."""

from __future__ import annotations

import pytest
import torch

from op_registry.reference.kernels.rrelu import rrelu_with_noise, rrelu_with_noise_functional


def test_given_slopes_decide_everything() -> None:
    """Elements that are not positive are scaled; the factors of the others are 1."""
    x = torch.tensor([-2.0, 0.0, 3.0])
    slopes = torch.tensor([0.25, 0.5, 0.5])
    result, factors = rrelu_with_noise_functional(x, torch.zeros(3), training=True, slopes=slopes)
    assert result.tolist() == [-0.5, 0.0, 3.0]
    assert factors.tolist() == [0.25, 0.5, 1.0]


def test_the_factors_are_left_in_the_argument() -> None:
    """In training only: autograd reads them there."""
    x, noise = torch.tensor([-2.0, 3.0]), torch.full((2,), 9.0)
    rrelu_with_noise(x, noise, 0.25, 0.75)
    assert noise.tolist() == [9.0, 9.0]
    rrelu_with_noise(x, noise, 0.25, 0.25, training=True)
    assert noise.tolist() == [0.25, 1.0]


def test_slopes_lie_between_the_bounds() -> None:
    """Of a thousand draws, all, and they differ."""
    drawn = rrelu_with_noise(-torch.ones(1000), torch.zeros(1000), 0.1, 0.2, training=True)
    assert bool(((-drawn >= 0.1) & (-drawn <= 0.2)).all())
    assert drawn.unique().numel() > 900


def test_bounds_the_wrong_way_round_are_refused() -> None:
    """With both of them in the message."""
    with pytest.raises(RuntimeError, match=r"got 0\.5 and 0\.25"):
        rrelu_with_noise(torch.zeros(1), torch.zeros(1), 0.5, 0.25)
