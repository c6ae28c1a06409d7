"""The TPU generations that programs are compiled for, one device of each."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_MIB = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Chip:
    """A TPU generation."""

    name: str
    """As users write it: ``v6e``."""
    topology: str
    """libtpu's name of its smallest topology."""
    hbm_bytes: int
    """HBM that a program may use on one device.

    The limit in libtpu 0.0.52's CompileTimeHbmOom message ("exceeds available HBM (15.75G)"), which
    has two decimals of a GiB. On tpu7x a device is one of a chip's two cores.
    """


def _chip(name: str, topology: str, hbm_gib: float) -> Chip:
    return Chip(name=name, topology=topology, hbm_bytes=round(hbm_gib * 1024) * _MIB)


CHIPS: Mapping[str, Chip] = MappingProxyType(
    {
        chip.name: chip
        for chip in (
            _chip("v5e", "v5e:1x1", 15.75),
            _chip("v5p", "v5p:1x1x1", 95.73),
            _chip("v6e", "v6e:1x1", 31.24),
            _chip("tpu7x", "tpu7x:1x1x1", 94.74),
        )
    }
)
DEFAULT_CHIP = "v6e"


def chip(name: str) -> Chip:
    """Return the generation called ``name``. Raises ValueError that lists the known ones."""
    try:
        return CHIPS[name]
    except KeyError:
        raise ValueError(f"unknown TPU generation {name!r}: known are {', '.join(CHIPS)}") from None
