"""SyncBatchNorm's ops together: two processes come to what batch norm over all of it does."""

from __future__ import annotations

import torch

from op_registry.reference.kernels import sync_batch_norm as forward
from op_registry.reference.kernels import sync_batch_norm_backward as backward

EPS, MOMENTUM = 1e-3, 0.2


def test_two_processes_are_one_batch_norm() -> None:
    """Output, running statistics and all gradients are those of the whole batch in one place."""
    torch.manual_seed(0)
    x, gradient = torch.randn(2, 7, 3, 4, 5).mul(3).add(2)
    whole = torch.nn.BatchNorm2d(3, eps=EPS, momentum=MOMENTUM)
    torch.nn.init.normal_(whole.weight)
    weight, bias = whole.weight.detach(), whole.bias.detach()
    running = torch.zeros(3), torch.ones(3)
    inputs = x.clone().requires_grad_()
    expected = whole(inputs)
    expected.backward(gradient)

    parts, gradients = x.split([5, 2]), gradient.split([5, 2])
    counts = torch.tensor([part.numel() / 3 for part in parts])
    means, invstds = zip(*(forward.batch_norm_stats(part, EPS) for part in parts), strict=True)
    stats = torch.stack(means), torch.stack(invstds)
    of_all = (*stats, *running, MOMENTUM, EPS, counts)
    mean, invstd = forward.batch_norm_gather_stats_with_counts(x, *of_all)
    given = (weight, bias, mean, invstd, EPS)
    output = torch.cat([forward.batch_norm_elemt(part, *given) for part in parts])
    torch.testing.assert_close(output, expected.detach())
    torch.testing.assert_close(running, (whole.running_mean, whole.running_var))

    asked = (True, True, True)
    sums = [
        backward.batch_norm_backward_reduce(g, part, mean, invstd, weight, *asked)
        for g, part in zip(gradients, parts, strict=True)
    ]
    dy, dy_xmu, grad_weight, grad_bias = (sum(s[1:], s[0]) for s in zip(*sums, strict=True))
    rest = (mean, invstd, weight, dy, dy_xmu, counts.int())
    found = torch.cat(
        [
            backward.batch_norm_backward_elemt(g, part, *rest)
            for g, part in zip(gradients, parts, strict=True)
        ]
    )
    torch.testing.assert_close(found, inputs.grad, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(grad_weight, whole.weight.grad, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(grad_bias, whole.bias.grad, rtol=1e-4, atol=1e-4)


def test_sums_that_nobody_asked_for_are_not_returned() -> None:
    """Frozen parameters give None, as the CUDA op gives undefined tensors."""
    x = torch.randn(4, 3)
    found = backward.batch_norm_backward_reduce(
        x, x, torch.zeros(3), torch.ones(3), None, input_g=True, weight_g=False, bias_g=False
    )
    assert [one is None for one in found] == [False, False, True, True]
