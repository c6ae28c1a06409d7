"""How a reference kernel is declared, and the list of all that were."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
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
    static_part: Kernel | None = None
    """Called as the overload is: what a dynamic kernel does before it needs the host, which lowers
    where the whole does not."""
    samples: tuple[str, ...] = ()
    """Entries of torch's own test inputs that reach the op, besides those of its own name:
    ``nn.functional.interpolate`` of its functions, ``nn.EmbeddingBag`` of its modules."""
    canonical: Kernel | None = None
    """Called as ``canonical(result, *args, **kwargs)``: brings two right answers to one form where
    the op leaves a choice (the sign of an eigenvector)."""
    tolerance: float = 1.0
    """Times the dtype's usual tolerance that values may be off; 0: equal to the last bit."""
    needs: tuple[str, ...] = ()
    """Ops with a kernel that the gradient calls inside functions of autograd's own; those that the
    derivative formula names itself are known."""
    own_gradient: str = ""
    """Why the kernel, which brings its own gradient, takes the place of autograd's formula too."""
    most_elements: int = 100_000
    """Samples with a larger tensor are left out: some definitions look at all pairs."""
    nonfinite: str = ""
    """Why results for NaN and infinity are not compared with eager PyTorch's."""

    expected: Kernel | None = None
    """Called as the overload is, made of other ops: what to compare with where eager CPU PyTorch
    has no kernel (fused attention of CUDA, SyncBatchNorm's ops)."""
    changes: bool = False
    """Writes into arguments although the schema does not say so, as the op itself does (running
    statistics)."""

    @property
    def path(self) -> str:
        """Import path of the function, as the registry shows it."""
        return f"{self.function.__module__}.{self.function.__qualname__}"

    @property
    def overload(self) -> Any:
        """The ``OpOverload``; imports torch. Raises ValueError when this torch has no such op."""
        from op_registry.build.table import overload_of

        found = overload_of(self.op)
        if found is None:
            raise ValueError(f"{self.path} is declared for {self.op}, which this torch lacks")
        return found

    @property
    def here(self) -> bool:
        """Whether this process has the op: that of another library it may lack. Imports torch."""
        from op_registry.build.table import overload_of

        return overload_of(self.op) is not None

    @property
    def eager(self) -> Kernel:
        """What the kernel is compared with: ``expected`` where there is one, else the op."""
        if self.expected is not None:
            return self.expected
        overload: Kernel = self.overload
        return overload


_DECLARED: dict[str, Declaration] = {}


def kernel(
    *ops: str,
    source: str,
    accuracy: str,
    noise: bool = False,
    dynamic: str = "",
    static_part: Kernel | None = None,
    samples: Sequence[str] = (),
    canonical: Kernel | None = None,
    tolerance: float = 1.0,
    needs: Sequence[str] = (),
    own_gradient: str = "",
    most_elements: int = 100_000,
    nonfinite: str = "",
    expected: Kernel | None = None,
    changes: bool = False,
) -> Callable[[Function], Function]:
    """Declare the decorated function the reference kernel of ``ops``.

    The function takes what the overload's schema takes; the rest is as in :class:`Declaration`.
    Raises ValueError when an op already has one, or when the function has no docstring.
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
                static_part=static_part,
                samples=tuple(samples),
                canonical=canonical,
                tolerance=tolerance,
                needs=tuple(needs),
                own_gradient=own_gradient,
                most_elements=most_elements,
                nonfinite=nonfinite,
                expected=expected,
                changes=changes,
            )
        return function

    return declare


def declared() -> dict[str, Declaration]:
    """Return every own reference kernel by op overload, sorted; imports torch."""
    package = importlib.import_module("op_registry.reference.kernels")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return dict(sorted(_DECLARED.items()))
