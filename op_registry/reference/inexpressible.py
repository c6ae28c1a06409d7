"""Ops that no function over tensor ops can define, and why."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

INEXPRESSIBLE: Mapping[str, str] = MappingProxyType(
    {
        "aten._local_scalar_dense.default": "hands one element to Python, which no op on tensors "
        "does",
    }
)
"""Op overload -> one sentence why."""
