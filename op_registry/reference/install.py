"""Installs the reference kernels where torch-tpu has none: ``op_registry.reference.install()``."""

from __future__ import annotations

import importlib.util
import re
from typing import TYPE_CHECKING, Any

from op_registry.errors import RegistryError
from op_registry.loader import available, installed_torch, load

if TYPE_CHECKING:
    from collections.abc import Iterable

    from op_registry.reference.plan import InstalledKernel, Step

_BACKEND = "tpu"
_NO_WHEEL = "torch-tpu is not installed in this environment, and the kernels are for its device"
_INSTALL = "install it: python -m pip install torch-tpu"
_libraries: dict[str, Any] = {}
"""Namespace -> the torch.library.Library that keeps the registrations alive."""
_installed: dict[str, InstalledKernel] = {}


def install(only: Iterable[str] | None = None, dry_run: bool = False) -> list[InstalledKernel]:
    """Register the reference kernels for the TPU backend, for ops that torch-tpu lacks.

    ``only`` names op overloads (``aten.mish.default``) or packets (``aten.mish``); the ops that
    their gradients need, and their other overloads, come along. With ``dry_run`` nothing is
    registered. Returns one entry for each op considered: what was registered, and why the others
    were not. Never registers over a backend kernel, but for ops whose gradient that kernel loses:
    there, calls that need a gradient go to PyTorch's own composite definition. Calling it again
    changes nothing. Raises RegistryError: no torch-tpu here, an op in ``only`` without a kernel, a
    torch that no registry covers.
    """
    _require_environment()
    from op_registry.reference.plan import plan

    steps = plan(only, snapshot=load(), installed=_installed)
    if not dry_run:
        for step in steps:
            _register(step)
    return [step.entry for step in steps]


def _require_environment() -> None:
    if importlib.util.find_spec("torch_tpu") is None:
        raise RegistryError(_NO_WHEEL, hint=_INSTALL)
    minor = ".".join(re.findall(r"\d+", installed_torch() or "")[:2])
    covered = sorted({name.rpartition("+torch")[2] for name in available()})
    if minor not in covered:
        message = f"the reference kernels are checked with torch {', '.join(covered)}, not {minor}"
        raise RegistryError(message, hint=f"install torch {covered[-1]}")
    import torch

    if torch._C._get_privateuse1_backend_name() != _BACKEND:
        from op_registry.build.device import initialise

        initialise()


def _register(step: Step) -> None:
    import torch

    entry = step.entry
    if not entry.installs or entry.op in _installed:
        return
    namespace, packet, overload = entry.op.split(".")
    if namespace not in _libraries:
        _libraries[namespace] = torch.library.Library(namespace, "IMPL")
    name = packet if overload == "default" else f"{packet}.{overload}"
    for key in step.keys:
        _libraries[namespace].impl(name, step.function, key)
    _installed[entry.op] = entry
