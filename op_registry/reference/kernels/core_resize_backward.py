"""The backward of the resize ops that a TPU has, from the decompositions of their forward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._decomp import decomposition_table

from op_registry.reference.declare import Kernel, kernel
from op_registry.reference.kernels._vjp import ACCURACY, SOURCE, vjp

if TYPE_CHECKING:
    from collections.abc import Sequence

_ZEROS = "here an infinity meets neighbours of weight zero and gives NaN"
_ATEN = torch.ops.aten
_MODES = ("nn.functional.interpolate", "nn.functional.upsample_bilinear")


def _resize(name: str, forward: Any, nonfinite: str = "") -> Kernel:
    definition = decomposition_table[forward]

    def backward(
        grad_output: torch.Tensor,
        output_size: Sequence[int],
        input_size: Sequence[int],
        *rest: Any,
        **scales: Any,
    ) -> torch.Tensor:
        """Return the gradient, of ``input_size``, for that of the resized input.

        Resizing is linear: where its gradient is taken does not matter.
        """
        somewhere = torch.zeros(input_size, dtype=grad_output.dtype, device=grad_output.device)
        resized = lambda x: definition(x, output_size, *rest, **scales)  # noqa: E731
        return vjp(resized, [somewhere], grad_output)[0]

    return _declared(name, backward, _MODES, nonfinite)


def _pad(name: str, forward: Any) -> Kernel:
    definition = decomposition_table[forward]

    def backward(
        grad_output: torch.Tensor, self: torch.Tensor, padding: Sequence[int]
    ) -> torch.Tensor:
        """Return the gradient of ``self`` for that of its padded form."""
        return vjp(lambda x: definition(x, padding), [self], grad_output)[0]

    return _declared(name, backward, ("nn.functional.pad",))


def _declared(name: str, function: Kernel, samples: Sequence[str], nonfinite: str = "") -> Kernel:
    """Declare ``function`` under the name that it is given in this module."""
    function.__name__ = function.__qualname__ = name.lstrip("_")
    op = f"aten.{name}.default"
    return kernel(
        op, source=SOURCE, accuracy=ACCURACY, samples=samples, tolerance=4.0, nonfinite=nonfinite
    )(function)


upsample_nearest1d_backward = _resize(
    "upsample_nearest1d_backward", _ATEN.upsample_nearest1d.default
)
upsample_nearest2d_backward = _resize(
    "upsample_nearest2d_backward", _ATEN.upsample_nearest2d.default
)
upsample_nearest3d_backward = _resize(
    "upsample_nearest3d_backward", _ATEN.upsample_nearest3d.default
)
upsample_nearest_exact1d_backward = _resize(
    "_upsample_nearest_exact1d_backward", _ATEN._upsample_nearest_exact1d.default
)
upsample_nearest_exact2d_backward = _resize(
    "_upsample_nearest_exact2d_backward", _ATEN._upsample_nearest_exact2d.default
)
upsample_nearest_exact3d_backward = _resize(
    "_upsample_nearest_exact3d_backward", _ATEN._upsample_nearest_exact3d.default
)
upsample_bilinear2d_backward = _resize(
    "upsample_bilinear2d_backward", _ATEN.upsample_bilinear2d.default, _ZEROS
)
upsample_bicubic2d_backward = _resize(
    "upsample_bicubic2d_backward", _ATEN.upsample_bicubic2d.default
)
replication_pad1d_backward = _pad("replication_pad1d_backward", _ATEN.replication_pad1d.default)
replication_pad2d_backward = _pad("replication_pad2d_backward", _ATEN.replication_pad2d.default)
replication_pad3d_backward = _pad("replication_pad3d_backward", _ATEN.replication_pad3d.default)
