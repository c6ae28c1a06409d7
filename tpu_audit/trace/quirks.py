"""What torch_tpu does that its dispatch table does not tell.

Each entry carries its reason and the versions it holds for; each is compared with the wheel by
a test that runs the same calls through both dispatchers. Everything else that the tracer mimics
is read from the registry.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch.nn.modules.utils import _pair, _single, _triple

from tpu_audit.trace.whole_gradients import whole

aten = torch.ops.aten
Tensor = torch.Tensor


@dataclass(frozen=True, kw_only=True, slots=True)
class Quirk:
    """One behaviour that is set up by hand."""

    name: str
    reason: str
    versions: str
    """torch-tpu versions it was proven on."""
    install: Callable[[torch.library.Library], None]
    """Registers it; gets a Library for aten's AutogradPrivateUse1 kernels."""


# --- attention ------------------------------------------------------------------------------

FLASH_DTYPES = (torch.bfloat16, torch.float32)
FLASH_RANK = 4
LANES = 128
"""Width of a TPU vector register: head sizes above it must fill whole registers."""


def takes_flash(query: Tensor) -> bool:
    """Tell whether the Mosaic flash kernel is chosen: decided by the query alone."""
    head = query.shape[-1]
    fits = head < LANES or head % LANES == 0
    return query.dtype in FLASH_DTYPES and query.dim() >= FLASH_RANK and fits


def sdpa(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Scaled dot product attention as torch_tpu's choice function sends it on."""
    grad = torch.is_grad_enabled()
    trainable_mask = attn_mask is not None and attn_mask.requires_grad and grad
    flash = takes_flash(query)
    fused = not trainable_mask and (flash or (query.dim() >= FLASH_RANK and dropout_p == 0.0))
    bias = _additive(attn_mask, query)
    if not fused:
        plain = (query, key, value, bias, dropout_p, is_causal)
        return _first(
            aten._scaled_dot_product_attention_math, *plain, scale=scale, enable_gqa=enable_gqa
        )
    if flash:
        trains = grad and any(t.requires_grad for t in (query, key, value))
        flags: tuple[float, ...] = (trains, dropout_p, is_causal, False)
        op = aten._scaled_dot_product_cudnn_attention
    else:
        flags = (dropout_p, is_causal, False)
        op = aten._scaled_dot_product_fused_attention_overrideable
    return _first(op, query, key, value, bias, *flags, scale=scale)


def _first(op: Any, *args: Any, **kwargs: Any) -> Tensor:
    """Call ``op``'s default overload and return the first of its results."""
    out: Tensor = op.default(*args, **kwargs)[0]
    return out


def _additive(mask: Tensor | None, query: Tensor) -> Tensor | None:
    """Turn a boolean mask into an additive one, as torch does before a fused kernel."""
    if mask is None or mask.dtype is not torch.bool:
        return mask
    new = functools.partial(torch.scalar_tensor, dtype=query.dtype, device=query.device)
    return torch.where(mask, new(0.0), new(float("-inf")))


# --- linear, rms_norm, repeat_interleave ----------------------------------------------------


class _Linear(torch.autograd.Function):
    """linear that stays one op in both directions."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None
        with torch._C._AutoDispatchBelowAutograd():
            return _linear(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        x, weight = ctx.saved_tensors
        need = list(ctx.needs_input_grad)
        need[2] = need[2] and ctx.has_bias
        out = aten.linear_backward.default(x, grads[0], weight, need)
        return tuple(g if wanted else None for g, wanted in zip(out, need, strict=True))


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Linear layer that autograd does not take apart."""
    tensors = [t for t in (x, weight, bias) if t is not None]
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        return _Linear.apply(x, weight, bias)  # type: ignore[no-any-return,no-untyped-call]
    with torch._C._AutoDispatchBelowAutograd():
        return _linear(x, weight, bias)


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    out: Tensor = aten.linear.default(x, weight, bias)
    return out


def rms_norm(
    x: Tensor, shape: list[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """rms_norm becomes the fused op."""
    return _first(aten._fused_rms_norm, x, shape, weight, eps)


def repeat_interleave(
    x: Tensor, repeats: int, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """repeat_interleave by an integer, ending in a reshape (upstream copies, then views)."""
    del output_size
    if dim is None:
        x, dim = x.reshape(-1), 0
    dim = dim % max(x.dim(), 1)
    shape = list(x.shape)
    wide = x.unsqueeze(dim + 1).expand(*shape[: dim + 1], repeats, *shape[dim + 1 :])
    shape[dim] *= repeats
    return wide.reshape(shape)


def repeat_interleave_tensor(
    x: Tensor, repeats: Tensor, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """repeat_interleave by a tensor: no number of repeats is expanded (upstream expands one).

    Where the wheel repeats too few rows by that, one number for several, the rows are right here.
    """
    if dim is None:
        x, dim = x.reshape(-1), 0
    rows = x.shape[dim] if x.dim() else 1
    if repeats.numel() == 1 and output_size is not None:
        return repeat_interleave(x, output_size // max(rows, 1), dim)
    if repeats.numel() == 1 and rows != 1:
        repeats = repeats.reshape(1).expand(rows)
    index = aten.repeat_interleave.Tensor(repeats, output_size=output_size)
    return x.index_select(dim, index)


# --- Python patches -------------------------------------------------------------------------


class _MaxPool(torch.autograd.Function):
    """Max pooling that keeps no indices: backward finds the largest elements again."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, name: str, *window: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.name, ctx.window = name, window
        return getattr(torch.ops.tpu, name).default(x, *window)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (x,) = ctx.saved_tensors
        op = getattr(torch.ops.tpu, f"{ctx.name}_backward").default
        return op(grads[0], x, *ctx.window), None, *(None for _ in ctx.window)


def _patch_max_pool(dims: int, tuple_of: Callable[[Any], tuple[int, ...]]) -> None:
    name = f"max_pool{dims}d"
    original = getattr(F, name)

    @functools.wraps(original)
    def pool(
        input: Tensor,  # noqa: A002
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        plain = not return_indices and all(d == 1 for d in tuple_of(dilation))
        if not plain or input.device.type != "tpu":
            return original(
                input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
            )
        kernel = list(tuple_of(kernel_size))
        steps = kernel if stride is None else list(tuple_of(stride))
        window = (kernel, steps, list(tuple_of(padding)), [1] * dims, bool(ceil_mode))
        return _MaxPool.apply(input, f"_{name}", *window)  # type: ignore[no-untyped-call]

    setattr(F, name, pool)


def _max_pool_patches(_: torch.library.Library) -> None:
    for dims, tuple_of in ((1, _single), (2, _pair), (3, _triple)):
        _patch_max_pool(dims, tuple_of)


def grouped_mm_meta(
    x: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> Tensor:
    """Shape of ``_grouped_mm`` on TPU: no stride alignment, any floating dtype, no bias."""
    torch._check_not_implemented(bias is None, lambda: "grouped_mm: bias is not supported on TPU")
    groups = 0 if offs is None else offs.shape[0]
    rows, columns = x.shape[-2], mat2.shape[-1]
    if x.dim() == 2 and mat2.dim() == 2:  # noqa: PLR2004
        shape: tuple[int, ...] = (groups, rows, columns)
    elif x.dim() == 2 or mat2.dim() == 2:  # noqa: PLR2004
        shape = (rows, columns)
    else:
        shape = (x.shape[0], rows, columns)
    return x.new_empty(shape, dtype=out_dtype or x.dtype)


def _grouped_mm_patch(_: torch.library.Library) -> None:
    op = aten._grouped_mm.default
    meta = torch._C.DispatchKey.Meta
    op.py_kernels.pop(meta, None)
    library = torch.library.Library("aten", "IMPL", "Meta")
    library.impl(op, grouped_mm_meta, allow_override=True)
    op.py_impl(meta)(grouped_mm_meta)
    _kept.append(library)


def _kernel(name: str, kernel: Callable[..., Any]) -> Callable[[torch.library.Library], None]:
    return lambda library: library.impl(name, kernel)


def _silu_backward(library: torch.library.Library) -> None:
    """Keep it whole where no gradient of the gradient is asked for."""
    op = aten.silu_backward.default

    def kernel(grad: Tensor, x: Tensor) -> Tensor:
        if torch.is_grad_enabled() and (grad.requires_grad or x.requires_grad):
            out: Tensor = op.decompose(grad, x)
            return out
        with torch._C._AutoDispatchBelowAutograd():
            return op(grad, x)  # type: ignore[no-any-return]

    kernels = torch.library.Library("aten", "IMPL", "PrivateUse1")
    kernels.impl("silu_backward", _never_run)
    library.impl("silu_backward", kernel)
    _kept.append(kernels)


def _ctc_loss(library: torch.library.Library) -> None:
    kernels = torch.library.Library("aten", "IMPL", "PrivateUse1")
    library.impl("ctc_loss.Tensor", whole(aten.ctc_loss.Tensor))
    kernels.impl("ctc_loss.Tensor", _never_run)
    _kept.append(kernels)


def _never_run(*_args: Any, **_kwargs: Any) -> Any:
    raise RuntimeError("fake tensors take the shape of the result from its meta function")


_kept: list[torch.library.Library] = []  # a Library takes its kernels with it when collected

QUIRKS: tuple[Quirk, ...] = (
    Quirk(
        name="attention_choice",
        reason="the fused-attention choice is a C++ function of dtype, rank and head size",
        versions="0.2.0",
        install=_kernel("scaled_dot_product_attention", sdpa),
    ),
    Quirk(
        name="linear_whole",
        reason="an AutogradPrivateUse1 kernel keeps linear and its backward in one piece",
        versions="0.2.0",
        install=_kernel("linear", linear),
    ),
    Quirk(
        name="fused_rms_norm",
        reason="an AutogradPrivateUse1 kernel sends rms_norm to _fused_rms_norm",
        versions="0.2.0",
        install=_kernel("rms_norm", rms_norm),
    ),
    Quirk(
        name="repeat_interleave",
        reason="an AutogradPrivateUse1 kernel decomposes it in its own way, ending in a reshape",
        versions="0.2.0",
        install=_kernel("repeat_interleave.self_int", repeat_interleave),
    ),
    Quirk(
        name="repeat_interleave_tensor",
        reason="an AutogradPrivateUse1 kernel takes it apart without expanding the repeats",
        versions="0.2.0",
        install=_kernel("repeat_interleave.self_Tensor", repeat_interleave_tensor),
    ),
    Quirk(
        name="silu_backward",
        reason="an AutogradPrivateUse1 kernel takes it apart for second derivatives only",
        versions="0.2.0",
        install=_silu_backward,
    ),
    Quirk(
        name="ctc_loss",
        reason="an AutogradPrivateUse1 kernel keeps the overload with tensors of lengths whole",
        versions="0.2.0",
        install=_ctc_loss,
    ),
    Quirk(
        name="max_pool",
        reason="torch.nn.functional.max_pool* are replaced in Python at import",
        versions="0.2.0",
        install=_max_pool_patches,
    ),
    Quirk(
        name="grouped_mm_meta",
        reason="the wheel replaces the meta function, which demands CUDA's 16-byte alignment",
        versions="0.2.0",
        install=_grouped_mm_patch,
    ),
)
