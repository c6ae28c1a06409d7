"""Reads from torch's own test entries how far a result may lie from the expected one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.testing._internal.common_device_type import toleranceOverride

if TYPE_CHECKING:
    import torch

_DEVICES = (None, "cpu")
"""Where an override has to hold: everywhere, or on the CPU."""


def tolerance(info: Any, dtype: torch.dtype) -> tuple[float, float] | None:
    """Return the absolute and relative error allowed at ``dtype``; None: no more than usual.

    Overrides are made for single tests. The widest counts: they all compare values of the same
    function, computed in two ways.
    """
    found = [
        override.d[dtype]
        for decorator in info.decorators or ()
        if getattr(decorator, "device_type", None) in _DEVICES
        for override in getattr(decorator, "decorators", (decorator,))
        if isinstance(override, toleranceOverride) and dtype in override.d
    ]
    if not found:
        return None
    return max(one.atol for one in found), max(one.rtol for one in found)
