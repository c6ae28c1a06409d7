"""The two devices of type ``tpu`` that a script of the tests can run on."""

from __future__ import annotations


def take_device(name: str) -> None:
    """Make the device exist in this process: ``pretended``, or ``torch_tpu`` for the wheel's."""
    if name == "torch_tpu":
        from op_registry.build.device import initialise

        initialise()
    else:
        from op_registry import loader
        from tpu_audit.trace.device import pretend

        pretend(loader.load(None))
