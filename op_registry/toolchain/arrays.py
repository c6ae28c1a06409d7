"""A file of tensors that torch and jax children exchange: no pickle, no third library.

Layout: the magic bytes, the length of the header (8 bytes, little endian), the header (JSON: a list
of ``{"dtype", "shape"}``), then each tensor's elements in C order, little endian, one behind the
other. Dtypes have torch's names (``float32``, ``bfloat16``, ``bool``, ``float8_e4m3fn``), which are
numpy's and ml_dtypes' as well. A boolean takes a byte, a complex number two floats.
"""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torch import Tensor

_MAGIC = b"TENSORS1"
_LENGTH = struct.Struct("<Q")
_EIGHT_BITS = ("bool", "int8", "uint8", "float8_")


@dataclass(frozen=True, kw_only=True, slots=True)
class Raw:
    """One tensor as it stands in the file."""

    dtype: str
    """torch's name of it."""
    shape: tuple[int, ...]
    data: memoryview
    """The elements in C order, little endian."""


def save(path: str | Path, tensors: Sequence[Tensor]) -> None:
    """Write ``tensors`` in order; the file's directory exists. Lazy conjugates are resolved."""
    write(path, (_from_torch(tensor) for tensor in tensors))


def load(path: str | Path) -> list[Tensor]:
    """Return the tensors of a file, on the CPU. Raises ValueError: no such file, dtype unknown."""
    return [_to_torch(raw) for raw in read(path)]


def save_numpy(path: str | Path, arrays: Sequence[Any]) -> None:
    """Write numpy arrays in order; ml_dtypes' element types are fine."""
    write(path, (_from_numpy(array) for array in arrays))


def load_numpy(path: str | Path) -> list[Any]:
    """Return a file's tensors as numpy arrays. Raises ValueError as ``load`` does."""
    return [_to_numpy(raw) for raw in read(path)]


def write(path: str | Path, items: Iterable[Raw]) -> None:
    """Write tensors in order; the file's directory exists."""
    found = list(items)
    described = [{"dtype": item.dtype, "shape": item.shape} for item in found]
    header = json.dumps(described).encode()
    with Path(path).open("wb") as out:
        out.write(_MAGIC + _LENGTH.pack(len(header)) + header)
        out.writelines(item.data for item in found)


def read(path: str | Path) -> Iterator[Raw]:
    """Yield the tensors of a file. Raises ValueError: no such file, another kind, cut short."""
    # A bytearray: torch warns about memory that it must not write to.
    content = memoryview(bytearray(Path(path).read_bytes()))
    if content[: len(_MAGIC)] != _MAGIC:
        raise ValueError(f"{str(path)!r} is no file of tensors: it begins differently")
    start = len(_MAGIC) + _LENGTH.size
    (length,) = _LENGTH.unpack(content[len(_MAGIC) : start])
    header, content = bytes(content[start : start + length]), content[start + length :]
    for entry in json.loads(header):
        shape = tuple(entry["shape"])
        size = math.prod(shape) * _item_size(entry["dtype"])
        if size > len(content):
            raise ValueError(
                f"{str(path)!r} is cut short: {size} bytes needed, {len(content)} left"
            )
        yield Raw(dtype=entry["dtype"], shape=shape, data=content[:size])
        content = content[size:]


def _item_size(dtype: str) -> int:
    if dtype.startswith(_EIGHT_BITS):
        return 1
    digits = dtype.lstrip("abcdefghijklmnopqrstuvwxyz")
    if not digits.isdecimal():
        raise ValueError(f"unknown dtype {dtype!r} in a file of tensors")
    return int(digits) // 8


def _from_torch(tensor: Tensor) -> Raw:
    import torch  # only the children that have it

    plain = tensor.detach().cpu().resolve_conj().resolve_neg()
    # Not contiguous(): one element counts as contiguous whatever its strides are.
    plain = plain.clone(memory_format=torch.contiguous_format)
    data = plain.reshape(-1).view(torch.uint8).numpy().data
    dtype = str(plain.dtype).removeprefix("torch.")
    return Raw(dtype=dtype, shape=tuple(plain.shape), data=data)


def _to_torch(raw: Raw) -> Tensor:
    import torch  # only the children that have it

    dtype = getattr(torch, raw.dtype, None)
    if dtype is None:
        raise ValueError(f"torch {torch.__version__} has no dtype {raw.dtype!r}")
    if not raw.data:
        return torch.empty(raw.shape, dtype=dtype)
    # A copy starts at an address that every dtype accepts.
    return torch.frombuffer(raw.data, dtype=torch.uint8).clone().view(dtype).reshape(raw.shape)


def _from_numpy(array: Any) -> Raw:
    import numpy as np  # only the children that have it

    plain = np.ascontiguousarray(array).reshape(-1)
    return Raw(dtype=array.dtype.name, shape=tuple(array.shape), data=plain.view(np.uint8).data)


def _to_numpy(raw: Raw) -> Any:
    import ml_dtypes  # numpy's missing element types; jax brings it
    import numpy as np  # only the children that have it

    dtype = getattr(ml_dtypes, raw.dtype, None) or _numpy_dtype(raw.dtype)
    return np.frombuffer(raw.data, dtype=dtype).reshape(raw.shape)


def _numpy_dtype(name: str) -> Any:
    import numpy as np  # only the children that have it

    try:
        return np.dtype(name)
    except TypeError:
        raise ValueError(f"numpy has no dtype {name!r}") from None
