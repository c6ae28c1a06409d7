"""How autocast casts is observed on the wheel and kept for every op that has a kernel for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from op_registry import load
from op_registry.loader import available
from op_registry.schema import AutocastPolicy, Resolution
from tests.support.wheel import PYTHON, ROOT, needs_wheel, run_json


@pytest.mark.parametrize("name", available())
def test_every_autocast_kernel_has_a_policy(name: str) -> None:
    """No op that the table has an autocast kernel for is left without, and no other has one."""
    ops = load(name).ops.values()

    with_kernel = {r.op for r in ops if r.autocast is Resolution.KERNEL}

    assert {r.op for r in ops if r.autocast_policy} == with_kernel
    assert len(with_kernel) == 135


def test_policies_of_well_known_ops() -> None:
    """Products are cast down, losses up, a product of elements only gives its result wide."""
    ops = load("0.2.0+torch2.13").ops

    assert ops["aten.linear.default"].autocast_policy is AutocastPolicy.LOWER_PRECISION
    assert ops["aten.cross_entropy_loss.default"].autocast_policy is AutocastPolicy.FP32
    assert ops["aten.prod.default"].autocast_policy is AutocastPolicy.FP32_RESULT
    assert ops["aten.softmax.int"].autocast_policy is None


@needs_wheel
def test_the_wheel_answers_as_the_snapshot_says() -> None:
    """Asked again, the wheel casts as the packaged snapshot holds."""
    assert PYTHON is not None
    answered = run_json(PYTHON, ROOT / "tests/support/autocast_policies.py")

    kept = {op: r.autocast_policy for op, r in load("0.2.0+torch2.13").ops.items()}
    assert answered == {op: policy for op, policy in kept.items() if policy}


def test_a_policy_is_seen_through_pytorchs_own_kernels() -> None:
    """On the CPU, whose policies PyTorch documents, the same calls show the same."""
    script = (
        "import torch; from op_registry.build.autocast import observe_policy as p;"
        "a = torch.ops.aten;"
        "print([p(f, 'cpu') for f in (a.linear.default, a.mse_loss.default, a.cat.default,"
        " a.add.Tensor)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )

    words = done.stdout
    assert words.count("None") == 1
    assert words.index("lower_precision") < words.index("fp32") < words.index("promote")
