"""Tensors survive the way through a file, from torch to torch and to numpy and back."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
import torch

from op_registry.toolchain.arrays import load, load_numpy, save, save_numpy
from tests.support.wheel import PYTHON, ROOT, needs_wheel

if TYPE_CHECKING:
    from pathlib import Path

DTYPES = (
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.complex64,
    torch.complex128,
    torch.bool,
    torch.int8,
    torch.uint8,
    torch.int16,
    torch.uint16,
    torch.int32,
    torch.int64,
)
NUMPY_SIDE = """
import sys
from op_registry.toolchain.arrays import load_numpy, save_numpy
arrays = load_numpy(sys.argv[1])
print([[a.dtype.name, list(a.shape)] for a in arrays])
save_numpy(sys.argv[2], [a.T if a.ndim > 1 else a for a in arrays])
"""


def same(found: torch.Tensor, expected: torch.Tensor) -> bool:
    """Compare dtype, shape and every bit, so that NaN equals itself and -0 differs from 0."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    one, other = (t.contiguous().reshape(-1).view(torch.uint8) for t in (found, expected))
    return torch.equal(one, other)


def every_kind() -> list[torch.Tensor]:
    """Return tensors of every dtype, of no dimension, and of no element."""
    values = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 7.0]])
    tensors = [values.to(dtype) for dtype in DTYPES]
    special = torch.tensor([float("nan"), float("inf"), -0.0])
    return [*tensors, special, torch.tensor(5), torch.empty(0, 3), torch.empty(0, dtype=torch.bool)]


def test_torch_to_torch(tmp_path: Path) -> None:
    """Every dtype, a scalar and empty tensors come back bit by bit."""
    save(tmp_path / "t", every_kind())
    found = load(tmp_path / "t")
    assert len(found) == len(every_kind())
    for one, other in zip(found, every_kind(), strict=True):
        assert same(one, other), (one, other)


def test_views_are_saved_as_they_read(tmp_path: Path) -> None:
    """Strides, lazy conjugates and lazy negatives are resolved; gradients are dropped."""
    z = torch.tensor([[1 + 2j, 3 - 1j]])
    views = [torch.arange(6).reshape(2, 3).T, torch.ones(1).expand(4), z.conj(), z.conj().imag]
    views.append(torch.ones(2, requires_grad=True))
    save(tmp_path / "t", views)
    for one, other in zip(load(tmp_path / "t"), views, strict=True):
        assert torch.equal(one, other.detach())


def test_loaded_tensors_are_independent(tmp_path: Path) -> None:
    """Writing to a loaded tensor changes no other."""
    save(tmp_path / "t", [torch.zeros(2), torch.zeros(2)])
    first, second = load(tmp_path / "t")
    first.add_(1)
    assert second.tolist() == [0, 0]


def test_other_file_is_named(tmp_path: Path) -> None:
    """A file of another kind is an error that names it."""
    (tmp_path / "t").write_bytes(b"PK\x03\x04 an archive")
    with pytest.raises(ValueError, match="is no file of tensors"):
        load(tmp_path / "t")


def test_cut_file_is_named(tmp_path: Path) -> None:
    """A file that ends early is an error, not a shorter tensor."""
    save(tmp_path / "t", [torch.zeros(100)])
    (tmp_path / "t").write_bytes((tmp_path / "t").read_bytes()[:-8])
    with pytest.raises(ValueError, match="is cut short: 400 bytes needed, 392 left"):
        load(tmp_path / "t")


def test_unknown_dtype_is_named(tmp_path: Path) -> None:
    """A dtype that this torch lacks is an error that names it."""
    header = json.dumps([{"dtype": "float7", "shape": []}]).encode()
    content = b"TENSORS1" + len(header).to_bytes(8, "little") + header + bytes(8)
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(ValueError, match="no dtype 'float7'"):
        load(tmp_path / "t")


def test_numpy_to_numpy(tmp_path: Path) -> None:
    """Plain dtypes of numpy come back as they were, a scalar and an empty array included."""
    np = pytest.importorskip("numpy")
    pytest.importorskip("ml_dtypes")
    arrays = [np.float32(3.5) * np.ones(()), np.zeros((0, 2), np.int8), np.eye(3)[:, ::-1]]
    save_numpy(tmp_path / "t", arrays)
    for one, other in zip(load_numpy(tmp_path / "t"), arrays, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert (one == other).all()


@needs_wheel
def test_torch_to_numpy_and_back(tmp_path: Path) -> None:
    """The interpreter with jax reads every dtype under its name and writes it back unharmed."""
    assert PYTHON is not None
    save(tmp_path / "in", every_kind())
    done = subprocess.run(
        [PYTHON, "-c", NUMPY_SIDE, str(tmp_path / "in"), str(tmp_path / "out")],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    names = [[str(t.dtype).removeprefix("torch."), list(t.shape)] for t in every_kind()]
    assert done.stdout.strip() == str(names)
    for one, other in zip(load(tmp_path / "out"), every_kind(), strict=True):
        assert same(one, other.T if other.ndim > 1 else other)


def test_one_element_with_odd_strides(tmp_path: Path) -> None:
    """A single element is written whatever its strides say."""
    odd = torch.ones(1, 1).as_strided((1, 1), (0, 0))
    save(tmp_path / "odd", [odd])
    assert torch.equal(load(tmp_path / "odd")[0], torch.ones(1, 1))
