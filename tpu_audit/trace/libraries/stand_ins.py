"""Stand-ins for what an installed torchvision of another build cannot load.

The torchvision of the package index is built against a CUDA torch. Beside a CPU torch its
compiled ops do not load, and its own import, hence that of transformers' image code, fails where
it describes two of them. With those declared, all of its Python code works.
"""

from __future__ import annotations

import functools
from importlib.util import find_spec
from pathlib import Path

import torch

_SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)
_LIBRARY = "_C*.so"


@functools.cache
def torchvision_ops() -> torch.library.Library | None:
    """Declare the ops that torchvision's own import expects, where its library does not load.

    Returns what keeps them declared, None where there is no need.
    """
    spec = find_spec("torchvision")
    if spec is None or spec.origin is None or _loads(Path(spec.origin).parent):
        return None
    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in _SCHEMAS:
        if not hasattr(torch.ops.torchvision, schema.partition("(")[0]):
            library.define(schema)
    return library


def _loads(folder: Path) -> bool:
    try:
        for path in folder.glob(_LIBRARY):
            torch.ops.load_library(path)
    except (OSError, ImportError):
        return False
    return hasattr(torch.ops.torchvision, "nms")
