"""Checks that the private torch APIs behind the pretended device work in this installation.

``python -m tpu_audit.trace.selftest`` prints one JSON object: ``ok``, and ``checks`` with a name,
``ok`` and, for a failed one, the error.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    """Run the checks in order and print the outcome; later ones need the earlier."""
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    checks: list[dict[str, Any]] = []
    for check in (_backend_registers, _linear_stays_whole, _values_stay_known):
        checks.append(_run(check))
        if not checks[-1]["ok"]:
            break
    sys.stdout.write(json.dumps({"ok": all(c["ok"] for c in checks), "checks": checks}) + "\n")


def _run(check: Callable[[], None]) -> dict[str, Any]:
    name = (check.__doc__ or "").strip().rstrip(".")
    try:
        check()
    except Exception as error:  # noqa: BLE001 - whatever fails is the answer
        return {"name": name, "ok": False, "error": f"{type(error).__name__}: {error}"}
    return {"name": name, "ok": True}


def _backend_registers() -> None:
    """Register a Python backend named tpu."""
    from op_registry import loader
    from tpu_audit.trace.device import pretend

    pretend(loader.load(None))


def _linear_stays_whole() -> None:
    """Dispatch linear undecomposed."""
    import torch
    from torch.nn import functional

    ops = _record(lambda: functional.linear(_empty(2, 8), _empty(4, 8)))
    if "aten.linear.default" not in ops:
        raise RuntimeError(f"torch {torch.__version__} dispatched {ops}")


def _values_stay_known() -> None:
    """Keep the values of small integer tensors."""
    import torch

    read: list[int] = []
    _record(lambda: read.append(int(torch.arange(5, device="tpu").sum())))
    if read != [10]:
        raise RuntimeError(f"sum of 0..4 came out as {read}")


def _empty(*shape: int) -> Any:
    import torch

    return torch.empty(shape, dtype=torch.bfloat16, device="tpu")


def _record(call: Callable[[], Any]) -> list[str]:
    import torch

    from tpu_audit.trace.fake import fake_mode, patched_for_fakes
    from tpu_audit.trace.places import Places
    from tpu_audit.trace.recorder import Recorder

    recorder = Recorder(Places())
    with patched_for_fakes(), fake_mode(), recorder, torch.no_grad():
        recorder.enter("forward")
        call()
    return [use.op for use in recorder.ledgers["forward"].uses()]


if __name__ == "__main__":
    main()
