"""Calls of public functions that torch's own test inputs leave out.

They only say what to run: what is made of it, the backend decides.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ATEN = torch.ops.aten


def extra_calls() -> Iterator[Callable[[], Any]]:
    """Yield the calls, each without arguments left to give."""
    yield from _recurrent()
    yield from _images()
    yield from _quantisation()
    yield from _others()


def _recurrent() -> Iterator[Callable[[], Any]]:
    steps = torch.rand(2, 3, 4)
    lengths = torch.tensor([3, 2])
    packed = pack_padded_sequence(steps, lengths, batch_first=True)
    relu = torch.nn.RNN(4, 4, nonlinearity="relu", batch_first=True)
    for module in (torch.nn.LSTM(4, 4), torch.nn.GRU(4, 4), torch.nn.RNN(4, 4), relu):
        yield partial(module, steps)
        yield partial(module, packed)
    yield partial(pack_padded_sequence, steps, lengths, batch_first=True)
    yield partial(pad_packed_sequence, packed, batch_first=True)


def _images() -> Iterator[Callable[[], Any]]:
    image, volume = torch.rand(1, 2, 4, 4), torch.rand(1, 2, 4, 4, 4)
    for given, mode, smooth in (
        (volume, "nearest", False),
        (image, "nearest-exact", False),
        (volume, "nearest-exact", False),
        (image, "bicubic", True),
        (image, "bilinear", True),
    ):
        yield partial(functional.interpolate, given, scale_factor=2.0, mode=mode, antialias=smooth)
    yield partial(functional.affine_grid, torch.rand(1, 2, 3), [1, 2, 4, 4], align_corners=False)
    grid = partial(_ATEN.affine_grid_generator_backward.default, torch.rand(1, 4, 4, 2))
    yield partial(grid, [1, 2, 4, 4], align_corners=False)
    yield partial(functional.conv_tbc, torch.rand(5, 2, 3), torch.rand(3, 3, 4), torch.rand(4))
    classes = torch.zeros(1, 4, 4, dtype=torch.int64)
    yield partial(_ATEN.nll_loss2d.default, functional.log_softmax(image, 1), classes)


def _quantisation() -> Iterator[Callable[[], Any]]:
    plain, whole = torch.rand(2, 4), torch.ones(2, 4, dtype=torch.int8)
    limits = (-128, 127, torch.int8)
    scale, zero = torch.tensor([0.1]), torch.tensor([0])
    scales, zeros = torch.tensor([0.1, 0.2]), torch.tensor([0, 0])
    yield partial(torch.fake_quantize_per_channel_affine, plain, scales, zeros, 0, -128, 127)
    ops = torch.ops.quantized_decomposed
    for quantise, given in ((ops.quantize_per_tensor, plain), (ops.dequantize_per_tensor, whole)):
        yield partial(quantise.default, given, 0.1, 0, *limits)
        yield partial(quantise.tensor, given, scale, zero, *limits)
        yield partial(
            quantise.tensor2, given, scale, zero, *map(torch.tensor, limits[:2]), limits[2]
        )
    yield partial(ops.quantize_per_channel.default, plain, scales, zeros, 0, *limits)
    yield partial(ops.dequantize_per_channel.default, whole, scales, zeros, 0, *limits)
    yield partial(ops.choose_qparams.tensor, plain, -128, 127, 1e-5, torch.int8)
    yield partial(ops.choose_qparams_per_token.default, plain, torch.int8)


def _others() -> Iterator[Callable[[], Any]]:
    square, row = torch.rand(3, 3), torch.rand(3)
    norm = (torch.rand(2, 3, 4, 4), row, row, row, row)
    yield partial(_ATEN._native_batch_norm_legit_no_training.default, *norm, 0.1, 1e-5)
    yield partial(torch.clip, square, min=row)
    yield partial(torch.randint, 0, 5, (3,), generator=torch.Generator())
    yield partial(torch.nuclear_norm, square, [0, 1])
    yield partial(torch.linalg.cond, square, "fro")
    yield partial(torch.orgqr, square, row)
    yield partial(torch.gradient, square, spacing=[torch.arange(3), torch.arange(3)], dim=[0, 1])
    yield partial(torch.float_power, square, 2.0)
    yield partial(_ATEN.float_power_.Scalar, square.double(), 2.0)
    yield partial(_ATEN.float_power_.Tensor, square.double(), row)
    yield partial(_ATEN.unflatten_dense_tensors.default, torch.rand(6), [row, row])
    yield partial(_ATEN.trace_backward.default, torch.tensor(1.0), [3, 3])
    pair = ((1, 1), (0, 0), (1, 1), False, (0, 0), 1, False, False, False, False)
    image = torch.rand(1, 2, 4, 4)
    yield partial(_ATEN._convolution.default, image, torch.rand(2, 2, 3, 3), None, *pair)
