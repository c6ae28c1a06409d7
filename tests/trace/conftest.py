"""What the tracer's tests share: the pretended device and a recorder on it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

# Before torch is imported: an installed torch-tpu would take the device that is pretended here.
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

if TYPE_CHECKING:
    from op_registry.schema import Snapshot
    from tpu_audit.types.trace import OpUse


@pytest.fixture(scope="session", name="snapshot")
def _snapshot() -> Snapshot:
    """Load the registry for the installed torch."""
    from op_registry import loader

    return loader.load(None)


@pytest.fixture(scope="session", name="pretended")
def _pretended(snapshot: Snapshot) -> str:
    """Pretend the device type ``tpu`` in this process."""
    from tpu_audit.trace.device import pretend

    pretend(snapshot)
    return "tpu"


Record = Callable[[Callable[[], Any]], "tuple[OpUse, ...]"]


@pytest.fixture(name="record")
def _record(pretended: str) -> Record:
    """Run a call on fake tensors and return the distinct calls that the backend saw."""
    import torch

    from tpu_audit.trace import shadow
    from tpu_audit.trace.fake import fake_mode, patched_for_fakes
    from tpu_audit.trace.places import Places
    from tpu_audit.trace.recorder import Recorder

    assert pretended == "tpu"

    def run(call: Callable[[], Any]) -> tuple[OpUse, ...]:
        shadow.forget_all()
        recorder = Recorder(Places())
        with patched_for_fakes(), fake_mode(), recorder, torch.no_grad():
            recorder.enter("forward")
            call()
        return recorder.ledgers["forward"].uses()

    return run
