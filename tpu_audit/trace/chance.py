"""Random numbers that the host draws: the same in every trace."""

from __future__ import annotations

import contextlib
import random
from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEED = 0


@contextlib.contextmanager
def seeded() -> Iterator[None]:
    """Seed the host's generators for a while; then go on where they were."""
    plain, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002  # models draw from it
    random.seed(_SEED)
    np.random.seed(_SEED)  # noqa: NPY002
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(_SEED)
        try:
            yield
        finally:
            random.setstate(plain)
            np.random.set_state(legacy)  # noqa: NPY002
