"""TPA914: copies between host and TPU inside the step."""

from __future__ import annotations

from op_registry.schema import Hazard
from tests.support.calls import audit, codes, finding, tensor, use
from tpu_audit.types.report import Severity

COPY = "aten._to_copy.default"


def test_a_copy_back_waits() -> None:
    """TPU to host is a warning at any size, with its dtype."""
    result = audit(use(COPY, tensor(2, 2), outputs=(tensor(2, 2, device="cpu"),), count=3))
    found = finding("TPA914", result)
    assert found.severity is Severity.WARNING
    assert "bfloat16 from TPU to host" in found.message
    assert found.bytes == 3 * 8
    assert Hazard.TRANSFER in result.rows[0].hazards


def test_a_large_copy_to_the_device_is_a_warning() -> None:
    """From a mebibyte on the copy itself is noticed."""
    host, there = tensor(1024, 512, device="cpu"), tensor(1024, 512)
    found = finding("TPA914", audit(use(COPY, host, outputs=(there,))))
    assert found.severity is Severity.WARNING


def test_a_small_copy_to_the_device_is_information() -> None:
    """A constant made by torch.tensor is worth knowing, no more."""
    found = finding("TPA914", audit(use(COPY, tensor(4, device="cpu"), outputs=(tensor(4),))))
    assert found.severity is Severity.INFO


def test_float64_is_emulated_from_the_copy_on() -> None:
    """A float64 grid made on the host shows at the copy: its dtype and that it stays 64-bit."""
    host, there = tensor(64, dtype="float64", device="cpu"), tensor(64, dtype="float64")
    result = audit(use(COPY, host, outputs=(there,)))
    assert codes(result) == {"TPA912", "TPA914"}
    assert "float64 from host to TPU" in finding("TPA914", result).message


def test_host_indices_are_a_hidden_copy() -> None:
    """Indexing a TPU tensor by a host tensor copies the index."""
    call = use("aten.index.Tensor", tensor(4, 4), tensor(2, dtype="int64", device="cpu"))
    assert "TPA914" in codes(audit(call))


def test_lone_numbers_and_empty_tensors_are_no_transfer() -> None:
    """A number on the host travels with the launch; an empty cache moves nothing."""
    number = use("aten.mul.Tensor", tensor(4), tensor(device="cpu"))
    empty = use(COPY, tensor(0, device="cpu"), outputs=(tensor(0),))
    assert codes(audit(number, empty)) == set()


def test_a_cast_on_the_device_is_no_transfer() -> None:
    """_to_copy between dtypes stays on the TPU."""
    cast = use(COPY, tensor(4), outputs=(tensor(4, dtype="float32"),))
    assert codes(audit(cast)) == set()
