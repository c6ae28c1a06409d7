"""Runs a fixed set of calls on the device type ``tpu`` and prints which ops the backend sees.

``python dispatch_probe.py pretended|torch_tpu``: the same calls through the pretended device or
through the wheel, so that a test can compare the two answers. Prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import nn

from tests.support.device import take_device

BF16, F32, F16, F64, I64 = (
    torch.bfloat16,
    torch.float32,
    torch.float16,
    torch.float64,
    torch.int64,
)
Call = Callable[[], Any]
attend = F.scaled_dot_product_attention


def new(*shape: int, dtype: torch.dtype = BF16, grad: bool = False) -> torch.Tensor:
    """Make an empty tensor on the device."""
    return torch.empty(shape, dtype=dtype, device="tpu", requires_grad=grad)


def head(query: int, value: int, dtype: torch.dtype) -> Call:
    """Attention with these head sizes."""
    size = (1, 4, 8)
    return lambda: attend(
        new(*size, query, dtype=dtype),
        new(*size, query, dtype=dtype),
        new(*size, value, dtype=dtype),
    )


def alike(*shape: int, **kwargs: Any) -> torch.Tensor:
    """Attention of three tensors of one shape."""
    query, key, value = new(*shape), new(*shape), new(*shape)
    return attend(query, key, value, **kwargs)


def masked(mask: Callable[[], torch.Tensor], size: int = 64, **kwargs: Any) -> Call:
    """Attention under a mask."""
    return lambda: alike(1, 4, 8, size, attn_mask=mask(), **kwargs)


def on_device(module: Callable[..., nn.Module], *args: Any, **kwargs: Any) -> nn.Module:
    """Build a module on the device, in eval mode, without a call being seen."""
    return module(*args, device="tpu", dtype=BF16, **kwargs).eval()


HEADS = (8, 64, 127, 128, 129, 130, 160, 192, 256, 512)
ATTENTION: dict[str, Call] = {
    **{f"heads {h} {d}": head(h, h, d) for h in HEADS for d in (BF16, F32, F16, F64)},
    **{
        f"heads {q}/{v}": head(q, v, BF16)
        for q, v in ((192, 128), (128, 192), (96, 160), (256, 64))
    },
    "three dimensions": lambda: attend(new(4, 8, 64), new(4, 8, 64), new(4, 8, 64)),
    "two dimensions": lambda: attend(new(8, 64), new(8, 64), new(8, 64)),
    "five dimensions": lambda: alike(1, 2, 4, 8, 64),
    "boolean mask": masked(lambda: new(1, 1, 8, 8, dtype=torch.bool)),
    "boolean mask, head 160": masked(lambda: new(1, 1, 8, 8, dtype=torch.bool), 160),
    "boolean mask, 3-D": lambda: attend(
        new(4, 8, 64), new(4, 8, 64), new(4, 8, 64), attn_mask=new(1, 8, 8, dtype=torch.bool)
    ),
    "additive mask": masked(lambda: new(8, 8)),
    "wider mask": masked(lambda: new(1, 1, 8, 8, dtype=F32)),
    "causal": lambda: alike(1, 4, 8, 64, is_causal=True),
    "causal 3-D": lambda: alike(4, 8, 64, is_causal=True),
    "dropout": lambda: alike(1, 4, 8, 64, dropout_p=0.1),
    "dropout, head 160": lambda: alike(1, 4, 8, 160, dropout_p=0.1),
    "grouped query": lambda: attend(
        new(1, 4, 8, 64), new(1, 2, 8, 64), new(1, 2, 8, 64), enable_gqa=True
    ),
    "grouped query, head 160": lambda: attend(
        new(1, 4, 8, 160), new(1, 2, 8, 160), new(1, 2, 8, 160), enable_gqa=True
    ),
    "decode": lambda: attend(new(1, 4, 1, 64), new(1, 4, 77, 64), new(1, 4, 77, 64)),
}
COMPOSITES: dict[str, Call] = {
    "linear": lambda: F.linear(new(2, 3, 8), new(4, 8), new(4)),
    "matmul": lambda: torch.matmul(new(2, 3, 8), new(8, 4)),
    "rms_norm": lambda: F.rms_norm(new(2, 3, 8), (8,), new(8)),
    "rms_norm bare": lambda: F.rms_norm(new(2, 3, 8), (8,)),
    "layer_norm": lambda: F.layer_norm(new(2, 8), (8,), new(8), new(8)),
    "avg_pool1d": lambda: F.avg_pool1d(new(2, 3, 8), 2),
    "max_pool1d": lambda: F.max_pool1d(new(2, 3, 8), 2),
    "max_pool2d": lambda: F.max_pool2d(new(2, 3, 9, 9), 3, stride=2, padding=1, ceil_mode=True),
    "max_pool3d": lambda: F.max_pool3d(new(2, 3, 8, 8, 8), 2),
    "max_pool2d indices": lambda: F.max_pool2d(new(2, 3, 8, 8), 2, return_indices=True),
    "max_pool2d dilated": lambda: F.max_pool2d(new(2, 3, 8, 8), 2, dilation=2),
    "torch.max_pool2d": lambda: torch.max_pool2d(new(2, 3, 8, 8), 2),
    "repeat_interleave": lambda: new(4, 8).repeat_interleave(2, 0),
    "repeat_interleave flat": lambda: new(4, 8).repeat_interleave(2),
    "repeat_interleave last": lambda: new(4, 8).repeat_interleave(2, -1),
    "repeat_interleave one": lambda: new(2, 1, 8).repeat_interleave(4, 1),
    "repeat_interleave once": lambda: new(4, 8).repeat_interleave(1, 0),
    "repeat_interleave one count": lambda: new(1, 8).repeat_interleave(
        torch.tensor([2], device="tpu"), 0
    ),
    "repeat_interleave count and size": lambda: new(3, 8).repeat_interleave(
        new(1, dtype=I64), 0, output_size=6
    ),
    "repeat_interleave counts": lambda: torch.repeat_interleave(
        new(4, 8), new(4, dtype=I64), 0, output_size=8
    ),
    "rfft": lambda: torch.fft.rfft(new(4, 8, dtype=F32), n=16, norm="ortho"),
    "fft": lambda: torch.fft.fft(new(4, 8, dtype=F32)),
    "irfft": lambda: torch.fft.irfft(new(4, 8, dtype=torch.complex64)),
    "fftn": lambda: torch.fft.fftn(new(4, 8, dtype=torch.complex64)),
    "cross_entropy": lambda: F.cross_entropy(new(4, 8), new(4, dtype=I64)),
    "nll_loss": lambda: F.nll_loss(new(4, 8), new(4, dtype=I64)),
    "channel_shuffle": lambda: F.channel_shuffle(new(1, 4, 3, 3), 2),
    "grouped_mm": lambda: torch._grouped_mm(
        new(8, 63), new(2, 63, 32), offs=new(2, dtype=torch.int32)
    ),
    "grouped_mm f32": lambda: torch._grouped_mm(
        new(8, 64, dtype=F32), new(2, 64, 32, dtype=F32), offs=new(2, dtype=torch.int32)
    ),
    "embedding_bag": lambda: F.embedding_bag(new(4, 3, dtype=I64), new(10, 8)),
    "one_hot": lambda: F.one_hot(new(4, dtype=I64), 10),
    "einsum": lambda: torch.einsum("bij,bjk->bik", new(2, 3, 4), new(2, 4, 5)),
    "interpolate": lambda: F.interpolate(new(1, 3, 8, 8), size=(16, 16), mode="bilinear"),
    "dropout": lambda: F.dropout(new(2, 8), 0.1, training=True),
}
MODULES: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[torch.Tensor, ...]]]] = {
    "LSTM": (lambda: on_device(nn.LSTM, 8, 8, bidirectional=True), lambda: (new(2, 3, 8),)),
    "GRU": (lambda: on_device(nn.GRU, 8, 8), lambda: (new(2, 3, 8),)),
    "RNN": (lambda: on_device(nn.RNN, 8, 8), lambda: (new(2, 3, 8),)),
    "LSTMCell": (lambda: on_device(nn.LSTMCell, 8, 8), lambda: (new(2, 8),)),
    "MultiheadAttention": (
        lambda: on_device(nn.MultiheadAttention, 64, 4, batch_first=True),
        lambda: (new(1, 8, 64), new(1, 8, 64), new(1, 8, 64)),
    ),
    "TransformerEncoderLayer": (
        lambda: on_device(nn.TransformerEncoderLayer, 64, 4, batch_first=True),
        lambda: (new(1, 8, 64),),
    ),
}
TRAINED: dict[str, Call] = {
    "linear": lambda: F.linear(new(2, 3, 8), new(4, 8, grad=True), new(4)),
    "rms_norm": lambda: F.rms_norm(new(2, 3, 8, grad=True), (8,), new(8, grad=True)),
    "attention": lambda: attend(new(1, 4, 8, 64, grad=True), new(1, 4, 8, 64), new(1, 4, 8, 64)),
    "attention, head 160": lambda: attend(
        new(1, 4, 8, 160, grad=True), new(1, 4, 8, 160), new(1, 4, 8, 160)
    ),
    "attention, trained mask": lambda: attend(
        new(1, 4, 8, 64, grad=True),
        new(1, 4, 8, 64),
        new(1, 4, 8, 64),
        attn_mask=new(1, 1, 8, 8, grad=True),
    ),
    "repeat_interleave": lambda: new(4, 8, grad=True).repeat_interleave(2, 0),
}


def ops_of(call: Call) -> list[str]:
    """Return the ops that one call dispatches, in order, or the error it raises."""
    from tpu_audit.trace.fake import fake_mode, patched_for_fakes
    from tpu_audit.trace.places import Places
    from tpu_audit.trace.recorder import Recorder, op_name

    seen: list[str] = []

    class Ordered(Recorder):
        def _record(self, _ledger: Any, func: Any, *_: Any) -> None:
            seen.append(op_name(func))

    recorder = Ordered(Places())
    with patched_for_fakes(), fake_mode(), recorder:
        recorder.enter("forward")
        try:
            call()
        except Exception as error:  # noqa: BLE001 - an error is an answer to compare as well
            return [f"raises {type(error).__name__}"]
    return [op for op in seen if not op.startswith("aten.empty.")]


def probe() -> dict[str, list[str]]:
    """Answer all calls."""
    answers: dict[str, list[str]] = {}
    with torch.no_grad():
        for name, call in {**ATTENTION, **COMPOSITES}.items():
            answers[name] = ops_of(call)
        for name, (make, inputs) in MODULES.items():
            answers[name] = ops_of(lambda make=make, inputs=inputs: make()(*inputs()))  # type: ignore[misc]
    for name, call in TRAINED.items():
        answers[f"{name}, trained"] = ops_of(call)
    return answers


def main() -> None:
    """Set up the device that the command line names and print the answers."""
    warnings.simplefilter("ignore")
    take_device(sys.argv[1])
    sys.stdout.write("\n" + json.dumps(probe()) + "\n")


if __name__ == "__main__":
    main()
