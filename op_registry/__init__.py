"""What a PyTorch backend supports, op overload by op overload, extracted from its wheel."""

from __future__ import annotations

from op_registry.errors import RegistryError
from op_registry.loader import available, installed_torch, load, mismatch
from op_registry.schema import OpRecord, Snapshot

__all__ = [
    "OpRecord",
    "RegistryError",
    "Snapshot",
    "available",
    "installed_torch",
    "load",
    "mismatch",
]
