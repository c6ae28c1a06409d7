"""Matches predictions with labels where only weights could tell which fit best.

Detectors ask scipy, on the host, for the cheapest assignment. Costs that come from weights are
not known; any assignment of the right size leads to the same calls.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NAME = "linear_sum_assignment"


@contextlib.contextmanager
def matching_known() -> Iterator[None]:
    """Answer, for a while, the models that ask scipy to match fakes: in order."""
    replaced: list[tuple[Any, Any]] = []
    for name, module in list(sys.modules.items()):
        original = vars(module).get(_NAME) if name.startswith("transformers.") else None
        if callable(original):
            replaced.append((module, original))
            setattr(module, _NAME, _in_order(original))
    try:
        yield
    finally:
        for module, original in replaced:
            setattr(module, _NAME, original)


def _in_order(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def assigned(costs: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(costs, torch.Tensor):
            return original(costs, *args, **kwargs)
        pairs = np.arange(min(costs.shape))
        return pairs, pairs.copy()

    return assigned
