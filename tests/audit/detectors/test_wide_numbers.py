"""TPA912, TPA919, TPA923: 64-bit and complex compute, and what of it is bookkeeping."""

from __future__ import annotations

import pytest

from op_registry.schema import Hazard
from tests.support.calls import audit, codes, finding, tensor, use
from tpu_audit.audit.detectors.int64_compute import LARGE
from tpu_audit.types.report import Severity


def test_float64_rope_table() -> None:
    """A float64 arange on the device is a warning, small as it is."""
    result = audit(use("aten.arange.start_step", outputs=(tensor(32, dtype="float64"),)))
    assert finding("TPA912", result).severity is Severity.WARNING
    assert result.rows[0].hazards == (Hazard.EMULATED,)


def test_complex128_has_its_own_fix() -> None:
    """complex128 is told to become complex64."""
    found = finding("TPA912", audit(use("aten.mul.Tensor", tensor(8, 8, dtype="complex128"))))
    assert "complex64" in found.fix


def test_a_lone_float64_number_costs_nothing() -> None:
    """A scalar in float64 is no finding."""
    assert codes(audit(use("aten.mul.Tensor", tensor(8), tensor(dtype="float64")))) == set()


def test_views_compute_nothing() -> None:
    """view_as_complex relabels memory: no finding, not even in complex128."""
    for dtype in ("complex64", "complex128"):
        call = use("aten.view_as_complex.default", tensor(8, dtype=dtype), bytes=0)
        assert codes(audit(call)) == set()


def test_host_tensors_are_not_emulated() -> None:
    """float64 on the host is the host's business; its copy to the device is the finding."""
    host, there = tensor(8, dtype="float64", device="cpu"), tensor(8)
    assert codes(audit(use("aten._to_copy.default", host, outputs=(there,)))) == {"TPA914"}


def test_a_float64_model_is_one_finding() -> None:
    """A phase in float64 says so once, not once for each op."""
    wide = tensor(8, dtype="float64")
    result = audit(use("aten.mul.Tensor", wide), use("aten.add.Tensor", wide), dtype="float64")
    found = finding("TPA912", result)
    assert found.op is None
    assert found.count == 2


def test_complex64_is_information() -> None:
    """TorchTPU has complex kernels: worth knowing, no warning."""
    found = finding("TPA919", audit(use("aten.mul.Tensor", tensor(8, dtype="complex64"))))
    assert found.severity is Severity.INFO


@pytest.mark.parametrize("op", ["aten.cumsum.default", "aten.add.Tensor", "aten.arange.default"])
def test_int64_bookkeeping_is_silent(op: str) -> None:
    """Positions and masks in int64 are in nearly every model: no finding, no hazard."""
    result = audit(use(op, tensor(8, 2048, dtype="int64")))
    assert codes(result) == set()
    assert result.rows[0].hazards == ()


def test_large_int64_results_are_information() -> None:
    """From LARGE bytes on an int64 result is real traffic."""
    at_limit = use("aten.add.Tensor", tensor(LARGE // 8, dtype="int64"))
    below = use("aten.add.Tensor", tensor(LARGE // 8 - 1, dtype="int64"))
    assert finding("TPA923", audit(at_limit)).severity is Severity.INFO
    assert codes(audit(below)) == set()


def test_attention_with_int64_outputs_is_no_integer_product() -> None:
    """Flash attention returns a seed in int64: that is not integer compute."""
    heads, seed = tensor(1, 8, 16, 64), tensor(dtype="int64")
    op = "aten._scaled_dot_product_cudnn_attention.default"
    call = use(op, heads, heads, heads, outputs=(heads, seed), flops=1)
    assert codes(audit(call)) == set()


def test_int64_matrix_product() -> None:
    """A matrix product on integers is reported at any size."""
    a = tensor(4, 4, dtype="int64")
    assert codes(audit(use("aten.mm.default", a, a, flops=128))) == {"TPA923"}
