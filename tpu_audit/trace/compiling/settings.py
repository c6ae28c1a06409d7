"""How Dynamo is set up: as torch_tpu sets it up, and so that fake tensors pass."""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

import torch
import torch._dynamo as dynamo
from torch._dynamo import config
from torch._dynamo.eval_frame import skip_code
from torch._functorch import config as functorch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental import proxy_tensor

from tpu_audit.trace import fake, metas, quirks

if TYPE_CHECKING:
    from collections.abc import Iterator

_AS_TORCH_TPU = {"trace_autograd_ops": True, "allow_rnn": True}
"""What torch_tpu 0.2.0 sets where this torch has it (``_loader.py``, ``compile/__init__.py``)."""

_FILES = frozenset(module.__file__ for module in (quirks, metas, fake))
_SELF_CHECKS = ("check_custom_op_aliasing",)


@contextmanager
def configured() -> Iterator[None]:
    """Set Dynamo up for a while, from a clean state to a clean state."""
    dynamo.reset()
    _skip_kernels()
    known = {name: value for name, value in _AS_TORCH_TPU.items() if hasattr(config, name)}
    # A self-check of AOTAutograd's calls ops itself while a graph first runs.
    plain = functorch.patch({n: False for n in _SELF_CHECKS if hasattr(functorch, n)})
    try:
        with config.patch(known), plain, _without_device():
            yield
    finally:
        dynamo.reset()


def _skip_kernels() -> None:
    """Hide the insides of the pretended device's kernels, which are Python here, from Dynamo.

    What torch_tpu itself replaces in Python stays visible.
    """
    patched = (torch.tensor, torch.as_tensor)  # outside of graphs they read scalars
    own = [vars(module).values() for module in (quirks, metas, fake)]
    for function in (*patched, *chain.from_iterable(own)):
        if inspect.isfunction(function) and function.__code__.co_filename in _FILES:
            skip_code(function.__code__)


@contextmanager
def _without_device() -> Iterator[None]:
    """Keep Dynamo's and AOTAutograd's own fake tensors from touching the device.

    Nor are constants computed for real: a pretended device has no kernels.
    """
    before = FakeTensorMode.avoid_device_init
    limit = proxy_tensor.CONSTANT_NUMEL_LIMIT
    FakeTensorMode.avoid_device_init = True  # type: ignore[assignment,method-assign]
    proxy_tensor.CONSTANT_NUMEL_LIMIT = -1
    try:
        yield
    finally:
        FakeTensorMode.avoid_device_init = before  # type: ignore[method-assign]
        proxy_tensor.CONSTANT_NUMEL_LIMIT = limit
