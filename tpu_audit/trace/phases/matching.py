"""What the losses of detectors take from other packages.

They ask scipy, on the host, which prediction fits which label best. Costs that come from weights
are not known; any assignment of the right size leads to the same calls. Where Pillow is not
installed transformers leaves out a conversion of boxes as well, which needs none of it.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MATCHES = "linear_sum_assignment"
_CONVERTS = "center_to_corners_format"
_LOSSES = "transformers.loss."


@contextlib.contextmanager
def matching_known() -> Iterator[None]:
    """Answer, for a while, the models that ask scipy to match fakes: in order."""
    replaced: list[tuple[dict[str, Any], str, Any]] = []
    for name, module in list(sys.modules.items()):
        if not name.startswith("transformers."):
            continue
        known = vars(module)
        if callable(original := known.get(_MATCHES)):
            replaced.append((known, _MATCHES, original))
            known[_MATCHES] = _in_order(original)
        if name.startswith(_LOSSES) and _CONVERTS not in known:
            replaced.append((known, _CONVERTS, None))
            known[_CONVERTS] = getattr(import_module("transformers.image_transforms"), _CONVERTS)
    try:
        yield
    finally:
        for known, name, original in replaced:
            if original is None:
                del known[name]
            else:
                known[name] = original


def _in_order(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def assigned(costs: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(costs, torch.Tensor):
            return original(costs, *args, **kwargs)
        pairs = np.arange(min(costs.shape))
        return pairs, pairs.copy()

    return assigned
