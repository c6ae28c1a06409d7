"""Every reference kernel, lowered by the real wheel and compiled by libtpu."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from op_registry.loader import load
from op_registry.reference.check import check_with, lowers
from op_registry.reference.checks.lowering import Toolchain
from op_registry.reference.declare import declared
from op_registry.reference.samples import collect
from tests.support.wheel import PYTHON, needs_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator

SNAPSHOT = load("0.2.0+torch2.13")
KERNELS = {op: found for op, found in declared().items() if lowers(found, SNAPSHOT)}
ALL = "TPU_AUDIT_TEST_LOWERING" in os.environ
"""All take many minutes: a slice of them runs unless this variable is set."""


@pytest.fixture(scope="module")
def toolchain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolchain]:
    """Return children that lower and compile."""
    assert PYTHON is not None
    with Toolchain(PYTHON, str(tmp_path_factory.mktemp("programs"))) as started:
        yield started


@needs_wheel
@pytest.mark.parametrize("op", list(KERNELS)[:: 1 if ALL else 60])
def test_kernel(op: str, toolchain: Toolchain) -> None:
    """Called through the dispatcher, it lowers with its gradient, and compiles for v5e and v6e."""
    declaration = KERNELS[op]
    samples = collect([declaration], ["float32", "bfloat16", "int64", "int8"])[op]
    outcomes = list(check_with(toolchain, declaration, samples, compiles=True))

    assert any(outcome.tried for outcome in outcomes), "no samples"
    assert [(o.check, o.dtype, o.failures) for o in outcomes if o.failures] == []
