"""The pretended TPU: a PrivateUse1 backend of type ``tpu`` that dispatches as the registry says."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
import torch.utils.backend_registration as backend

from op_registry.schema import Resolution
from tpu_audit.trace import autocast, whole_gradients
from tpu_audit.trace.quirks import QUIRKS
from tpu_audit.types.errors import TpuAuditError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from op_registry.schema import OpRecord, Snapshot

DEVICE = "tpu"
_libraries: list[torch.library.Library] = []  # a Library takes its kernels with it when collected
_installed: list[str] = []


class TpuModule(backend._DummyBackendModule):
    """``torch.tpu`` as far as torch and model code ask it anything."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        """Dtypes that autocast may cast to."""
        return [torch.bfloat16, torch.float16, torch.float32]

    def is_bf16_supported(self) -> bool:
        """Every TPU computes in bfloat16."""
        return True

    def current_stream(self, device: Any = None) -> None:
        """No streams here."""

    def synchronize(self, device: Any = None) -> None:
        """Nothing runs, so there is nothing to wait for."""

    def empty_cache(self) -> None:
        """No cache here."""

    def set_device(self, device: Any) -> None:
        """One device only."""

    def get_rng_state(self, device: Any = None) -> torch.Tensor:  # noqa: ARG002 - torch passes it
        """Return an empty state: no random number is ever drawn."""
        return torch.empty(0, dtype=torch.uint8)

    def set_rng_state(self, state: torch.Tensor, device: Any = None) -> None:
        """Ignore the state."""


def pretend(snapshot: Snapshot) -> None:
    """Make ``torch.device("tpu")`` exist in this process and dispatch as ``snapshot`` says.

    Kernels cannot be taken back, so a process serves one registry; asking for another raises
    :class:`UsageError`. Raises :class:`TpuAuditError` when this torch lacks the private API.
    """
    if _installed:
        if _installed != [snapshot.digest]:
            raise UsageError("this process already traces with another registry")
        return
    _register_backend()
    _let_transformers_look_again()
    _keep_composites_whole(snapshot)
    _install_quirks(snapshot)
    _libraries.extend((*autocast.install(snapshot), whole_gradients.install(snapshot)))
    _installed.append(snapshot.digest)


def _register_backend() -> None:
    setup: Callable[..., None] | None = getattr(
        backend, "_setup_privateuseone_for_python_backend", None
    )
    if setup is None:
        raise TpuAuditError(
            f"torch {torch.__version__} has no backend registration in Python",
            hint="install torch 2.13 or 2.14",
        )
    setup(DEVICE, TpuModule())
    _define_tpu_ops()


def _let_transformers_look_again() -> None:
    """Drop what transformers remembers of the accelerator, so that it finds the TPU.

    It decides by it which optional parts a model's module imports: flex attention, for one.
    """
    utils = sys.modules.get("transformers.utils.import_utils")
    for name, function in vars(utils).items() if utils else ():
        if name.startswith("is_") and hasattr(function, "cache_clear"):
            function.cache_clear()


def _define_tpu_ops() -> None:
    """Declare the ops of torch_tpu's own namespace that its Python patches call."""
    library = torch.library.Library("tpu", "DEF")
    for dims in (1, 2, 3):
        window = (
            "int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode) "
            "-> Tensor"
        )
        name = library.define(f"_max_pool{dims}d(Tensor self, {window}")
        backward = library.define(
            f"_max_pool{dims}d_backward(Tensor grad_output, Tensor self, {window}"
        )
        library.impl(backward, _like_input, "Meta")
        pool = getattr(torch.ops.aten, f"max_pool{max(dims, 2)}d_with_indices")
        library.impl(name, _pool_meta(dims, pool), "Meta")
    _libraries.append(library)


def _like_input(_grad: torch.Tensor, x: torch.Tensor, *_window: Any) -> torch.Tensor:
    return torch.empty_like(x)


def _pool_meta(dims: int, with_indices: Any) -> Callable[..., torch.Tensor]:
    def meta(x: torch.Tensor, *window: Any) -> torch.Tensor:
        out: torch.Tensor = with_indices(x, *window)[0]
        return out

    def meta_1d(x: torch.Tensor, *window: Any) -> torch.Tensor:
        # aten has no kernel for max_pool1d_with_indices: pool rows of height one.
        (kernel,), (stride,), (padding,), (dilation,), ceil_mode = window
        flat = ([1, kernel], [1, stride], [0, padding], [1, dilation], ceil_mode)
        return meta(x.unsqueeze(-2), *flat).squeeze(-2)

    return meta_1d if dims == 1 else meta


def _keep_composites_whole(snapshot: Snapshot) -> None:
    """Register a kernel wherever torch_tpu registers one over a composite op.

    The kernel is never run (fake tensors take shapes from meta functions); its presence is what
    makes the dispatcher stop decomposing there, and what makes autograd fall through.
    """
    library = torch.library.Library("aten", "IMPL", "PrivateUse1")
    for record in snapshot.ops.values():
        if _stays_whole(record):
            library.impl(record.op.removeprefix("aten.").removesuffix(".default"), _no_kernel)
    _libraries.append(library)


def _stays_whole(record: OpRecord) -> bool:
    """Tell the ops that reach the backend undecomposed.

    Ops with an AutogradPrivateUse1 kernel of their own are decomposed by that kernel before the
    backend; linear is the exception and a quirk.
    """
    return (
        record.op.startswith("aten.")
        and record.composite_implicit
        and record.privateuse1 is Resolution.KERNEL
        and (record.autograd is not Resolution.KERNEL or record.op == "aten.linear.default")
    )


def _no_kernel(*_args: Any, **_kwargs: Any) -> Any:
    raise RuntimeError("a pretended device has no kernels")


def _install_quirks(snapshot: Snapshot) -> None:
    if snapshot.backend != DEVICE:
        return
    rest = torch.library.Library("_", "IMPL", "AutogradPrivateUse1")
    rest.fallback(torch.library.fallthrough_kernel)  # the wheel's own; torch's would warn
    _libraries.append(rest)
    library = torch.library.Library("aten", "IMPL", "AutogradPrivateUse1")
    for quirk in QUIRKS:
        quirk.install(library)
    _libraries.append(library)
