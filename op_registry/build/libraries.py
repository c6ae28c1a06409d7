"""Ops of other libraries that models call: what the backend does with them is a fact as well.

Where the library is installed it is imported, and the dispatcher says all. Where it is not (its
wheel may not load beside a CPU build of torch) its ops are declared with the schemas and the
dispatch keys that the library registers, which is all that the table reads.
"""

from __future__ import annotations

import importlib
from typing import Any

import torch

_POOLED = "float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_IMAGE = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_WINDOW = (
    "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, "
    "SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask"
)
_DEFORMED = "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias"
_DIFFERENTIABLE = ("CPU", "Autograd")
TORCHVISION = {
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor": ("CPU",),
    f"roi_align(Tensor input, Tensor rois, {_POOLED}, int sampling_ratio, bool aligned) "
    "-> Tensor": _DIFFERENTIABLE,
    f"_roi_align_backward(Tensor grad, Tensor rois, {_POOLED}, {_IMAGE}, int sampling_ratio, "
    "bool aligned) -> Tensor": _DIFFERENTIABLE,
    f"roi_pool(Tensor input, Tensor rois, {_POOLED}) -> (Tensor, Tensor)": _DIFFERENTIABLE,
    f"_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, {_POOLED}, {_IMAGE}) "
    "-> Tensor": _DIFFERENTIABLE,
    f"ps_roi_align(Tensor input, Tensor rois, {_POOLED}, int sampling_ratio) "
    "-> (Tensor, Tensor)": _DIFFERENTIABLE,
    f"_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_POOLED}, "
    f"int sampling_ratio, {_IMAGE}) -> Tensor": _DIFFERENTIABLE,
    f"ps_roi_pool(Tensor input, Tensor rois, {_POOLED}) -> (Tensor, Tensor)": _DIFFERENTIABLE,
    f"_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_POOLED}, {_IMAGE}) "
    "-> Tensor": _DIFFERENTIABLE,
    f"deform_conv2d({_DEFORMED}, {_WINDOW}) -> Tensor": _DIFFERENTIABLE,
    "_deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask, "
    f"Tensor bias, {_WINDOW}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)": _DIFFERENTIABLE,
    "box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor": ("CPU",),
}
"""Schema -> keys with a kernel, as torchvision 0.29.1 registers them (CUDA and quantised apart)."""
_LIBRARIES = {"torchvision": TORCHVISION}
_kept: list[torch.library.Library] = []


def register_other_libraries() -> None:
    """Make the ops of other libraries known to the dispatcher of this process."""
    for name, ops in _LIBRARIES.items():
        if not _importable(name):
            _kept.append(_declare(name, ops))


def _importable(name: str) -> bool:
    try:
        importlib.import_module(name)
    except (ImportError, RuntimeError, OSError):
        # A wheel for another build of torch fails at whichever of its libraries comes first.
        return False
    return True


def _declare(namespace: str, ops: dict[str, tuple[str, ...]]) -> torch.library.Library:
    library = torch.library.Library(namespace, "FRAGMENT")
    for schema, keys in ops.items():
        name = library.define(schema)
        for key in keys:
            library.impl(name, _not_here, key)
    return library


def _not_here(*_args: Any, **_kwargs: Any) -> Any:
    raise RuntimeError("the library that has this kernel is not installed")
