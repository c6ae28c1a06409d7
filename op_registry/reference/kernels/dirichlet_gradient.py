"""``_dirichlet_grad``: how a Dirichlet number moves with its concentration."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel

_NUMERATOR = (
    (
        (1.003668233, -0.01061107488, -0.0657888334, 0.01201642863),
        (0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033),
        (-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013),
    ),
    (
        (0.221950385, -0.3187676331, 0.01799915743, 0.01074823814),
        (-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057),
        (0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05),
    ),
    (
        (-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565),
        (0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181),
        (0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05),
    ),
)
_DENOMINATOR = (
    (
        (1, -0.02924021934, -0.04438342661, 0.007285809825),
        (0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521),
        (-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149),
    ),
    (
        (0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273),
        (0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956),
        (-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05),
    ),
    (
        (0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05),
        (0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05),
        (-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06),
    ),
)
"""By power of log x, of log(alpha / x), and of log(total x / alpha)."""
_ALPHA_TERMS, _BETA_TERMS, _LARGE = 10, 8, 6.0
_NEAR_ZERO, _NEAR_ONE = 2.5, 0.75


@kernel(
    "aten._dirichlet_grad.default",
    source="Figurnov et al., Implicit Reparameterization Gradients (2018); the approximations of "
    "torch's Distributions.h",
    accuracy="f32 rounding of some fifty operations; both parameters above 6 are "
    "computed in f64, which a TPU emulates",
)
def dirichlet_grad(x: torch.Tensor, alpha: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
    """Return the scaled derivative of each beta number ``x`` by ``alpha``, of sum ``total``.

    It is -(d cdf / d alpha) / pdf / (1 - x) of the beta distribution of ``alpha`` and ``total`` -
    ``alpha``: by series near 0 and near 1, by a saddle point where both are large and by a rational
    correction elsewhere. All are computed, one is taken.
    """
    if not x.dtype == alpha.dtype == total.dtype or not x.is_floating_point():
        raise RuntimeError(
            f"_dirichlet_grad: expected floating-point tensors of one dtype, got {x.dtype}, "
            f"{alpha.dtype} and {total.dtype}"
        )
    p, a, t = torch.broadcast_tensors(x, alpha, total)
    b = t - a
    rim = t * p * (1 - p)
    # The terms of the saddle point all but cancel.
    large = _saddle_point(p.double(), a.double(), t.double() - a.double()).to(x.dtype)
    found = torch.where((a > _LARGE) & (b > _LARGE), large, _rational(p, a, b))
    near_one = (p >= 0.5) & (rim < _NEAR_ONE)
    found = torch.where(near_one, -_by_beta(1 - p, b, a), found)
    near_zero = (p <= 0.5) & (rim < _NEAR_ZERO)
    return torch.where(near_zero, _by_alpha(p, a, b), found)


def _by_alpha(x: torch.Tensor, alpha: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    """Return the derivative by ``alpha``, by the series at 0."""
    factor = alpha.digamma() - (alpha + beta).digamma() - x.log()
    numerator = torch.ones_like(x)
    series = numerator / alpha * (factor + 1 / alpha)
    for number in range(1, _ALPHA_TERMS + 1):
        numerator = numerator * (number - beta) * x / number
        denominator = alpha + number
        series = series + numerator / denominator * (factor + 1 / denominator)
    return _number(x * (1 - x).pow(-beta) * series)


def _by_beta(x: torch.Tensor, alpha: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    """Return the derivative by ``beta``, by the series at 0."""
    factor = (alpha + beta).digamma() - beta.digamma()
    numerator, betas, slopes = torch.ones_like(x), torch.ones_like(x), torch.zeros_like(x)
    series = factor / alpha
    for number in range(1, _BETA_TERMS + 1):
        numerator = numerator * -x / number
        slopes = slopes * (beta - number) + betas
        betas = betas * (beta - number)
        series = series + numerator / (alpha + number) * (slopes + factor * betas)
    return _number(-(1 - x).pow(1 - beta) * series)


def _number(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x.isnan(), 0.0, x)


def _saddle_point(x: torch.Tensor, alpha: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    total = alpha + beta
    mean = alpha / total
    deviation = (alpha * beta / (total + 1)).sqrt() / total
    close = (mean - 0.1 * deviation <= x) & (x <= mean + 0.1 * deviation)
    return torch.where(close, _at_the_mean(x, alpha, beta), _off_the_mean(x, alpha, beta))


def _at_the_mean(x: torch.Tensor, alpha: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    total, rest, square = alpha + beta, 1 - x, beta * beta
    inner = 8 * rest * (135 * beta - 11)
    inner = (453 + 1620 * beta * rest - 455 * x) * beta + alpha * inner
    inner = 3 * (59 + 180 * beta - 90 * x) * square + alpha * inner
    inner = (43 + 20 * (16 + 27 * beta) * x) * square * beta + alpha * inner
    polynomial = 47 * x * square * square + alpha * inner
    above = (1 + 12 * alpha) * (1 + 12 * beta) / (total * total)
    below = 12960 * alpha * alpha * alpha * square * (1 + 12 * total)
    return above / rest * polynomial / below


def _off_the_mean(x: torch.Tensor, alpha: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    total, rest = alpha + beta, x - 1
    off = alpha * rest + beta * x
    above = (2 * alpha + beta) * alpha * rest - x * beta * beta
    first = above / ((2 * alpha / beta * total).sqrt() * total * off * off)
    second = 0.5 * (alpha / (total * x)).log()
    third = (8 * alpha * beta / total).sqrt() / off
    entropy = beta * (beta / (total * (1 - x))).log() + alpha * (alpha / (total * x)).log()
    fourth = 1 / (entropy * entropy.sqrt())
    terms = first + second * (third + torch.where(x < alpha / total, fourth, -fourth))
    scale = -x / (2 * alpha * beta / total).sqrt()
    return _stirling(alpha) * _stirling(beta) / _stirling(total) * scale * terms


def _stirling(x: torch.Tensor) -> torch.Tensor:
    return 1 + 1 / (12 * x) + 1 / (288 * x * x)


def _rational(x: torch.Tensor, alpha: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    total = alpha + beta
    u = x.log()
    a = alpha.log() - u
    b = total.log() - a
    ratio = _polynomial(_NUMERATOR, u, a, b) / _polynomial(_DENOMINATOR, u, a, b)
    return ratio * x * (total.digamma() - alpha.digamma()) / beta


def _polynomial(
    table: tuple[tuple[tuple[float, ...], ...], ...],
    u: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
) -> torch.Tensor:
    total = torch.zeros_like(u)
    for by_a in reversed(table):
        inner = torch.zeros_like(u)
        for c0, c1, c2, c3 in reversed(by_a):
            inner = inner * a + (c0 + b * (c1 + b * (c2 + b * c3)))
        total = total * u + inner
    return total
