"""How a reference kernel is declared, and the list of all that were."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
Kernel = Callable[..., Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Declaration:
    """One reference kernel for one op overload."""

    op: str
    """``aten.mish.default``"""
    function: Kernel
    """Called as the overload is: same positional and keyword arguments, same results."""
    source: str
    """Where the algorithm comes from: a paper, a formula, torch's own kernel."""
    accuracy: str
    """Error against eager PyTorch that the algorithm explains, in words."""
    noise: bool = False
    """The op draws random numbers; its deterministic part is a function of given noise."""
    dynamic: str = ""
    """Why the shape of the output depends on the data, where it must."""

    @property
    def path(self) -> str:
        """Import path of the function, as the registry shows it."""
        return f"{self.function.__module__}.{self.function.__qualname__}"


_DECLARED: dict[str, Declaration] = {}


def kernel(
    *ops: str, source: str, accuracy: str, noise: bool = False, dynamic: str = ""
) -> Callable[[Function], Function]:
    """Declare the decorated function the reference kernel of ``ops``.

    The function takes what the overload's schema takes. Raises ValueError when an op already has
    one, or when the function has no docstring.
    """

    def declare(function: Function) -> Function:
        if not (function.__doc__ or "").strip():
            raise ValueError(f"reference kernel {function.__qualname__} needs a docstring")
        for op in ops:
            if op in _DECLARED:
                raise ValueError(f"{op} already has {_DECLARED[op].path}")
            _DECLARED[op] = Declaration(
                op=op,
                function=function,
                source=source,
                accuracy=accuracy,
                noise=noise,
                dynamic=dynamic,
            )
        return function

    return declare


def declared() -> dict[str, Declaration]:
    """Return every own reference kernel by op overload, sorted; imports torch."""
    package = importlib.import_module("op_registry.reference.kernels")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return dict(sorted(_DECLARED.items()))
