"""The tolerances of torch's own tests."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from torch.testing._internal.common_device_type import tol, toleranceOverride
from torch.testing._internal.opinfo.core import DecorateInfo

from op_registry.build.samples.tolerance import tolerance


def _info(*decorators: Any) -> Any:
    return SimpleNamespace(decorators=decorators)


def _override(atol: float, rtol: float) -> toleranceOverride:
    return toleranceOverride({torch.float32: tol(atol=atol, rtol=rtol)})


def test_the_widest_of_the_overrides_counts() -> None:
    """Tests of the same function allow different errors."""
    info = _info(_override(1e-5, 1e-3), DecorateInfo(_override(1e-4, 1e-4), "TestCommon"))
    assert tolerance(info, torch.float32) == (1e-4, 1e-3)


def test_those_of_other_devices_and_dtypes_do_not_count() -> None:
    """A tolerance for CUDA, or for half precision, says nothing here."""
    cuda = DecorateInfo(_override(1.0, 1.0), "TestCommon", device_type="cuda")
    assert tolerance(_info(cuda), torch.float32) is None
    assert tolerance(_info(_override(1.0, 1.0)), torch.float16) is None
