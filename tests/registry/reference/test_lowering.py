"""Every reference kernel for use, lowered by the real wheel and compiled by libtpu."""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING

import pytest

from op_registry.loader import load
from op_registry.reference.check import COMPILED, check_with, lowers
from op_registry.reference.checks.lowering import CHIPS, Toolchain
from op_registry.reference.declare import declared
from op_registry.reference.samples import collect
from tests.support.wheel import PYTHON, needs_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.reference.checks.outcome import Outcome
    from op_registry.reference.declare import Declaration
    from op_registry.reference.samples import Samples

SNAPSHOT = load("0.2.0+torch2.13")
KERNELS = {op: found for op, found in declared().items() if lowers(found, SNAPSHOT)}
ALL = "TPU_AUDIT_TEST_LOWERING" in os.environ
"""All take many minutes: a slice of them runs unless this variable is set."""
SLICES = 16
SLICE = [op for op in KERNELS if ALL or zlib.crc32(op.encode()) % SLICES == 0]
"""The same kernels in every run, whatever others come or go."""


@pytest.fixture(scope="module")
def toolchain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolchain]:
    """Return children that lower and compile."""
    assert PYTHON is not None
    with Toolchain(PYTHON, str(tmp_path_factory.mktemp("programs"))) as started:
        yield started


@needs_wheel
@pytest.mark.parametrize("op", SLICE)
def test_kernel(op: str, toolchain: Toolchain) -> None:
    """Called through the dispatcher, it lowers with its gradient, and compiles for v5e and v6e."""
    samples = tried_with(KERNELS[op])
    outcomes = list(check_with(toolchain, KERNELS[op], samples, compiles=True))

    assert [(o.check, o.dtype, o.failures) for o in outcomes if o.failures] == []
    assert samples.calls, "no samples"
    assert untried(samples, outcomes) == []


def tried_with(declaration: Declaration) -> Samples:
    """Return samples at the dtypes that are compiled, or at any others that the op takes."""
    for dtypes in (COMPILED[:4], ("int32", "uint8", "bool", "complex64", "float64")):
        samples = collect([declaration], dtypes)[declaration.op]
        if samples.calls:
            break
    return samples


def untried(samples: Samples, outcomes: list[Outcome]) -> list[str]:
    """Return at which dtypes not every sample was lowered, or none was compiled for a chip."""
    tried = {(o.check, o.dtype): o.tried for o in outcomes}
    return [
        dtype
        for dtype, calls in samples.calls.items()
        if tried["lowered", dtype] < len(calls)
        or not all(tried[f"compiled for {chip}", dtype] for chip in CHIPS)
    ]
