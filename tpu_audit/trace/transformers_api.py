"""What differs between the versions of transformers that may trace: 5, and 4 elsewhere."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_DTYPE_SINCE = (4, 56)
"""Version since which the argument ``torch_dtype`` is called ``dtype``."""


def no_init_weights() -> AbstractContextManager[Any]:
    """Return the context in which models are built without drawing initial weights."""
    try:
        module = import_module("transformers.initialization")
    except ImportError:  # transformers 4
        module = import_module("transformers.modeling_utils")
    made: AbstractContextManager[Any] = module.no_init_weights()
    return made


def dtype_argument() -> str:
    """Return the name of the argument that says in which dtype to build."""
    import transformers

    version = tuple(int(part) for part in transformers.__version__.split(".")[:2])
    return "dtype" if version >= _DTYPE_SINCE else "torch_dtype"
