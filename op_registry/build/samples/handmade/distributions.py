"""Samples of random ops: each way that a distribution is drawn, by its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_SIZE = 300


def _like(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.zeros(shape or (_SIZE,)).to(dtype)


# Of samples with as many dimensions only a few are kept: parameters differ in theirs.
def _equal(value: float, dtype: torch.dtype) -> torch.Tensor:
    return torch.full((_SIZE,), value).to(dtype)


@handmade("aten.cauchy.default", "aten.log_normal.default", "aten.normal_functional.default")
def two_parameters(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield calls with the default parameters, and with others."""
    if dtype.is_floating_point:
        yield call(_like(dtype))
        yield call(_like(dtype, 20, 15), 0.5, 0.25)


@handmade("aten.exponential.default")
def exponential(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield calls at two rates."""
    if dtype.is_floating_point:
        yield call(_like(dtype))
        yield call(_like(dtype, 20, 15), 3.5)


@handmade("aten.uniform.default")
def uniform(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield calls with the default interval, and another."""
    if dtype.is_floating_point:
        yield call(_like(dtype))
        yield call(_like(dtype, 20, 15), -3.0, 2.0)


@handmade("aten.geometric.default")
def geometric(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield rare and frequent successes, integers as well."""
    if dtype.is_floating_point or dtype in (torch.int32, torch.int64):
        yield call(_like(dtype), 0.125)
        yield call(_like(dtype, 20, 15), 0.75)


@handmade("aten.normal.float_Tensor")
def normal_of_width(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield widths from 0 on."""
    if dtype.is_floating_point:
        yield call(1.5, torch.linspace(0, 2, _SIZE).to(dtype))


@handmade("aten.bernoulli.Tensor")
def bernoulli_by(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield probabilities from 0 to 1, broadcast as well."""
    if dtype.is_floating_point or dtype is torch.int64:
        yield call(_like(dtype), torch.linspace(0, 1, _SIZE))
        yield call(_like(dtype, 20, 15), torch.linspace(0, 1, 15))


@handmade("aten.native_dropout.default")
def native_dropout(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield dropout in training and in evaluation, of nothing and of all."""
    if dtype.is_floating_point:
        for p, train in ((0.3, True), (0.3, None), (0.3, False), (0.0, True), (1.0, True)):
            yield call(torch.randn(_SIZE).to(dtype), p, train)


@handmade("aten.randperm.default")
def randperm(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield orders of a few and of many."""
    if dtype in (torch.int32, torch.int64):
        for n in (0, 1, 7, 200):
            yield call(n, dtype=dtype, device=torch.device("cpu"))


@handmade("aten.randperm.generator")
def randperm_by(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same without a generator of one's own."""
    if dtype in (torch.int32, torch.int64):
        for n in (1, 200):
            yield call(n, generator=None, dtype=dtype, device=torch.device("cpu"))


@handmade("aten.poisson.default")
def poisson(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield rates on both sides of the change of method, tiny and large ones."""
    if dtype.is_floating_point:
        for number, rate in enumerate((0.0, 0.125, 3.0, 9.5, 10.0, 30.0, 250.0)):
            yield call(_equal(rate, dtype).reshape(*[1] * number, -1))


@handmade("aten.binomial.default")
def binomial(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield counts and probabilities of both methods, and on both sides of a half."""
    if not dtype.is_floating_point:
        return
    cases = ((1.0, 0.5), (20.0, 0.25), (40.0, 0.25), (100.0, 0.5), (200.0, 0.75), (256.0, 0.0625))
    for number, (count, p) in enumerate(cases):
        shape = [1] * number
        yield call(*(_equal(value, dtype).reshape(*shape, -1) for value in (count, p)))
    counts = torch.arange(20).to(dtype).unsqueeze(1).expand(20, 15)
    yield call(counts.contiguous(), torch.linspace(0, 1, 15).to(dtype))


@handmade("aten._standard_gamma.default")
def standard_gamma(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield shape parameters below 1, around it and large."""
    if dtype.is_floating_point:
        for number, alpha in enumerate((0.125, 0.5, 1.0, 2.5, 40.0)):
            yield call(_equal(alpha, dtype).reshape(*[1] * number, -1))


@handmade("aten._sample_dirichlet.default")
def sample_dirichlet(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield concentrations that differ among the parts, small and large."""
    if dtype in (torch.float32, torch.float64):
        for parts in ((0.25, 0.5, 2.0), (1.0, 1.0), (8.0, 3.0, 1.0, 20.0)):
            yield call(torch.tensor(parts, dtype=dtype).expand(60, -1).clone())


@handmade("aten._standard_gamma_grad.default")
def standard_gamma_grad(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield parameters and numbers of every approximation, on both sides of their limits."""
    if dtype in (torch.float32, torch.float64):
        alpha = torch.tensor([0.1, 0.6, 1.0, 2.5, 7.9, 8.1, 30.0, 400.0]).to(dtype)
        factor = torch.tensor([0.01, 0.3, 0.85, 0.95, 1.0, 1.05, 1.15, 2.5]).to(dtype)
        yield call(alpha.expand(8, 8).contiguous(), alpha * factor.unsqueeze(1))
        yield call(alpha, alpha.flip(0))


@handmade("aten._dirichlet_grad.default")
def dirichlet_grad(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield beta numbers near 0 and 1 and between, of small and of large parameters."""
    if dtype in (torch.float32, torch.float64):
        x = torch.tensor([0.001, 0.05, 0.3, 0.499, 0.5, 0.7, 0.95, 0.998]).to(dtype)
        pairs = ((0.3, 0.5), (1.0, 1.0), (2.5, 5.0), (12.0, 9.0), (50.0, 3.0))
        for number, (alpha, beta) in enumerate(pairs):
            shaped = x.reshape(*[1] * number, -1)
            a = torch.full_like(shaped, alpha)
            yield call(shaped, a, a + beta)
