"""Stand-ins for what an installed torchvision of another build cannot load.

The torchvision of the package index is built against a CUDA torch. Beside a CPU torch its
compiled ops do not load, and its import then fails where it registers the meta function of an op
that is not there. With the schemas declared, all of its Python code works.
"""

from __future__ import annotations

import functools
from importlib.util import find_spec

import torch

_SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    (
        "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
        "SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor"
    ),
)


@functools.cache
def torchvision_ops() -> torch.library.Library | None:
    """Declare the ops that torchvision's own import expects, where its library does not load."""
    if find_spec("torchvision") is None or _loads():
        return None
    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in _SCHEMAS:
        name = schema.partition("(")[0]
        if not hasattr(torch.ops.torchvision, name):
            library.define(schema)
    return library


def _loads() -> bool:
    try:
        import torchvision  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
    except Exception:  # noqa: BLE001 - whatever goes wrong in there, it does not load
        return False
    return True
