"""TPA914: data crosses between host and device inside the step."""

from __future__ import annotations

from op_registry.schema import Hazard
from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.audit.sizes import numel, total
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA914",
    name="transfer-in-step",
    severity=Severity.WARNING,
    summary="The step copies a tensor between host memory and the TPU.",
    why=(
        "A copy to the host waits for everything queued on the TPU. A copy from the host delays "
        "the step by its latency, every time, and ends a compiled graph."
    ),
    fix=(
        "Make the tensor on the device once (`register_buffer`, `device=x.device`), and keep "
        "results there until the step is over."
    ),
)

LARGE = 2**20
"""Bytes a call from which on a copy to the device is a warning. Smaller ones (constants made by
``torch.tensor``) are dominated by latency that overlaps with the work before them."""

_TRAFFIC = "{bytes} cross per "


def detect(call: Call) -> Hit | None:
    """Report calls with tensors on both sides, lone numbers and empty tensors aside."""
    sources = [t for t in call.use.inputs if numel(t) and (t.shape or _is_copy(call))]
    host_out = [t for t in call.use.outputs if t.device == "cpu"]
    device_out = [t for t in call.use.outputs if t.device != "cpu"]
    back = host_out and [t for t in sources if t.device != "cpu"]
    there = device_out and [t for t in sources if t.device == "cpu"]
    moved = back or there
    if not moved:
        return None
    dtype = moved[0].dtype
    size = total(moved)
    way = "TPU to host" if back else "host to TPU"
    costly = bool(back) or size >= LARGE
    return Hit(
        code=CODE,
        hazard=Hazard.TRANSFER,
        severity=Severity.WARNING if costly else Severity.INFO,
        reason=f"moves {dtype} from {way}{', and waits for it' if back else ''}",
        cause=f"{way} {dtype}",
        bytes=size * call.use.count,
        traffic=_TRAFFIC + call.settings.phase + ".",
    )


def _is_copy(call: Call) -> bool:
    """Whether the call's purpose is to copy, so that lone numbers count as well."""
    return "copy" in call.packet
