"""Ops that no function over tensor ops can define, and why."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from op_registry.reference.inexpressible_families import FAMILIES
from op_registry.reference.inexpressible_formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Mapping

INEXPRESSIBLE: Mapping[str, str] = MappingProxyType(
    {
        **FORMATS,
        "aten._foobar.default": "a test of PyTorch's own bindings, without a meaning",
        "aten._fused_sdp_choice.default": "returns which of PyTorch's attention kernels for "
        "CUDA or the CPU would be taken, a number that says nothing of a TPU",
        "aten._local_scalar_dense.default": "hands one element to Python, which no op on tensors "
        "does",
        "aten._spdiags.default": "makes a sparse tensor, which the TPU backend does not have",
        "aten._test_functorch_fallback.default": "a test of PyTorch's own dispatcher, without a "
        "meaning",
        "aten._test_optional_filled_intlist.default": "a test of PyTorch's own bindings, "
        "without a meaning",
        "aten._test_optional_floatlist.default": "a test of PyTorch's own bindings, without a "
        "meaning",
        "aten._test_optional_intlist.default": "a test of PyTorch's own bindings, without a "
        "meaning",
        "c10d.check_for_nan.default": "raises if a value is NaN, which the host has to read",
        "c10d.monitored_barrier_.default": "waits for other processes and changes no tensor",
        "aten.from_file.default": "maps a file into the host's memory",
        "aten.is_set_to.default": "asks whether two tensors share their storage, which no "
        "values of theirs tell",
    }
)
"""Op overload -> one sentence why."""


def inexpressible(op: str, *, lacking: bool) -> str:
    """Return why nothing over tensor ops can define ``op``; empty where that is not known.

    What is said of an op holds for its other overloads (``out=``), unless two are told apart. Where
    the backend is ``lacking`` the op, what is said of its family does else.
    """
    own = INEXPRESSIBLE.get(op)
    if own is not None:
        return own
    packet = op.rpartition(".")[0]
    alike = {why for other, why in INEXPRESSIBLE.items() if other.rpartition(".")[0] == packet}
    if len(alike) == 1:
        return alike.pop()
    families = FAMILIES.items() if lacking else ()
    return next((why for begins, why in families if op.startswith(begins)), "")
