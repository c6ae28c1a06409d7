"""Random kernels as functions of given noise, and where their methods change."""

from __future__ import annotations

import math

import pytest
import torch

from op_registry.reference.kernels import random_choices as choices
from op_registry.reference.kernels import random_transforms as transforms
from op_registry.reference.kernels._noise import first_accepted
from op_registry.reference.kernels.binomial import binomial
from op_registry.reference.kernels.gamma_samples import sample_dirichlet, standard_gamma
from op_registry.reference.kernels.poisson import poisson

LEVELS = torch.tensor([0.0, 0.25, 0.5, 0.75])
LIKE = torch.zeros(4)
DRAWS = 40_000


def test_transforms_are_the_inverse_of_the_distribution_function() -> None:
    """Quartiles of the noise become the quartiles of each distribution."""
    uniform = transforms.uniform(LIKE, 2.0, 4.0, noise=LEVELS)
    torch.testing.assert_close(uniform, torch.tensor([2.0, 2.5, 3.0, 3.5]))
    exponential = transforms.exponential(LIKE, 2.0, noise=LEVELS)
    torch.testing.assert_close(exponential, -(1 - LEVELS).log() / 2)
    cauchy = transforms.cauchy(LIKE, 1.0, 3.0, noise=LEVELS)
    torch.testing.assert_close(cauchy[1:], torch.tensor([-2.0, 1.0, 4.0]))
    geometric = transforms.geometric(LIKE, 0.5, noise=LEVELS)
    assert geometric.tolist() == [1, 1, 1, 2]


def test_normal_numbers_are_scaled_and_shifted() -> None:
    """Standard normal noise takes mean and width, and its exponential in log_normal."""
    noise = torch.tensor([-1.0, 0.0, 1.0, 2.0])
    expected = 0.5 + 2 * noise
    torch.testing.assert_close(transforms.normal_functional(LIKE, 0.5, 2.0, noise=noise), expected)
    torch.testing.assert_close(transforms.log_normal(LIKE, 0.5, 2.0, noise=noise), expected.exp())
    both = transforms.normal_of_tensors(torch.tensor(0.5), torch.full((4,), 2.0), noise=noise)
    torch.testing.assert_close(both, expected)


def test_dropout_keeps_what_its_noise_is_not_below() -> None:
    """The kept are divided by how likely they were; the mask says which."""
    out, kept = choices.native_dropout(torch.ones(4), 0.5, True, noise=LEVELS)  # noqa: FBT003
    assert kept.tolist() == [False, False, True, True]
    assert out.tolist() == [0, 0, 2, 2]


def test_categories_are_found_by_their_share() -> None:
    """A level falls into the category whose share of the whole it is in, never an empty one."""
    weights = torch.tensor([1.0, 0.0, 2.0, 1.0])
    found = choices.multinomial(weights, 4, replacement=True, noise=LEVELS)
    assert found.tolist() == [0, 2, 2, 3]
    drawn = choices.multinomial(weights, 3, noise=torch.tensor([0.9, 0.5, 0.9, 0.1]))
    assert sorted(drawn.tolist()) == [0, 2, 3]


def test_an_order_is_that_of_its_noise() -> None:
    """The smallest number comes first."""
    noise = torch.tensor([0.3, 0.1, 0.9, 0.2])
    assert choices.randperm(4, dtype=torch.int32, noise=noise).tolist() == [1, 3, 0, 2]


def test_the_first_accepted_proposal_is_taken() -> None:
    """Later proposals count only where all before were rejected; else something is left."""
    candidates = torch.tensor([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    accepted = torch.tensor([[True, False, False], [True, True, False]])
    assert first_accepted(candidates, accepted, torch.zeros(3)).tolist() == [1, 2, 0]


@pytest.mark.parametrize("rate", [0.5, 9.99, 10.0, 1e3, 1e6])
def test_poisson_counts_have_mean_and_variance_of_their_rate(rate: float) -> None:
    """On both sides of the change of method, and where f32 has few digits for the fraction."""
    torch.manual_seed(0)
    counts = poisson(torch.full((DRAWS,), rate)).double()
    assert abs(counts.mean() - rate) < 5 * math.sqrt(rate / DRAWS)
    assert abs(counts.var() / rate - 1) < 5 * math.sqrt(2.5 / DRAWS) + 5 / math.sqrt(rate * DRAWS)


@pytest.mark.parametrize(
    ("count", "p"), [(5, 0.3), (39, 0.25), (40, 0.25), (1000, 0.99), (1e6, 0.5)]
)
def test_successes_have_mean_and_variance_of_their_trials(count: float, p: float) -> None:
    """On both sides of the change of method, and where failures are counted."""
    torch.manual_seed(0)
    found = binomial(torch.full((DRAWS,), float(count)), torch.full((DRAWS,), p)).double()
    variance = count * p * (1 - p)
    assert abs(found.mean() - count * p) < 5 * math.sqrt(variance / DRAWS)
    assert abs(found.var() / variance - 1) < 5 * math.sqrt(3 / DRAWS)
    assert found.min() >= 0
    assert found.max() <= count


def test_extreme_parameters_have_one_outcome() -> None:
    """No rate, no trial, no chance or certainty; what is no probability gives NaN."""
    assert poisson(torch.tensor([0.0, -1.0])).isnan().tolist() == [False, True]
    trials, p = torch.tensor([0.0, 7.0, 7.0, 7.0]), torch.tensor([0.5, 0.0, 1.0, math.nan])
    assert binomial(trials, p)[:3].tolist() == [0, 0, 7]
    assert binomial(trials, p)[3].isnan()


@pytest.mark.parametrize("alpha", [0.25, 1.0, 30.0])
def test_gamma_numbers_have_mean_and_variance_of_their_parameter(alpha: float) -> None:
    """Below 1, where they are boosted, at 1 and above."""
    torch.manual_seed(0)
    numbers = standard_gamma(torch.full((DRAWS,), alpha)).double()
    assert abs(numbers.mean() - alpha) < 5 * math.sqrt(alpha / DRAWS)
    assert abs(numbers.var() / alpha - 1) < 5 * math.sqrt((2 + 6 / alpha) / DRAWS)


def test_gamma_numbers_are_a_function_of_their_noise() -> None:
    """Normal noise of 0 is accepted at once: it gives the number that Marsaglia and Tsang say."""
    noise = torch.zeros(8, 2), torch.full((9, 2), 0.5)
    found = standard_gamma(torch.tensor([2.0, 0.5]), noise=noise)
    torch.testing.assert_close(found, torch.tensor([5 / 3, (1.5 - 1 / 3) * 0.25]))


def test_parts_of_the_whole_sum_to_one() -> None:
    """Even concentrations so small that gamma numbers vanish in f32."""
    torch.manual_seed(0)
    shares = sample_dirichlet(torch.full((100, 3), 0.01))
    torch.testing.assert_close(shares.sum(1), torch.ones(100))
    assert (shares > 0).all()


@pytest.mark.parametrize(
    ("refused", "told"),
    [
        (lambda: transforms.uniform(LIKE, 2.0, 1.0), "from=2.0 > to=1.0"),
        (lambda: transforms.exponential(LIKE, 0.0), "lambda > 0.0"),
        (lambda: transforms.cauchy(LIKE, 0.0, -1.0), "sigma > 0.0"),
        (lambda: transforms.geometric(LIKE, 1.0), "p to be in"),
        (lambda: transforms.log_normal(LIKE, 0.0, 0.0), "std > 0.0"),
        (lambda: choices.multinomial(LIKE, 5), "without replacement"),
        (lambda: choices.randperm(-1), "non-negative"),
        (lambda: poisson(torch.ones(2, dtype=torch.int64)), "not implemented"),
    ],
)
def test_parameters_without_a_distribution_are_refused(refused: object, told: str) -> None:
    """What eager refuses is refused, and the message names the value."""
    assert callable(refused)
    with pytest.raises(RuntimeError, match=told):
        refused()
