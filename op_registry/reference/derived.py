"""Derives an op's in-place and ``out=`` overloads from its functional kernel, by their schemas."""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from op_registry.build.table import overload_of
from op_registry.reference.declare import Kernel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from op_registry.reference.declare import Declaration


@dataclass(frozen=True, kw_only=True, slots=True)
class Derived:
    """Another overload of an op that has a kernel."""

    op: str
    """``aten.mish.out``"""
    source: str
    """The op whose kernel it calls: ``aten.mish.default``."""
    function: Kernel
    """Called as the overload is."""


def derive(declaration: Declaration) -> list[Derived]:
    """Return the overloads that differ from the declared one in where the result goes.

    An ``out=`` overload resizes its outputs and copies into them, an in-place one copies into
    ``self``; both cast as eager PyTorch does. None for a kernel that changes its arguments itself.
    """
    functional = declaration.overload._schema
    if functional.is_mutable:
        return []
    found = []
    for op, schema in _relatives(declaration.op):
        if outs := _outputs(functional, schema):
            function = _with_outputs(declaration.function, outs, returns=bool(schema.returns))
        elif _is_in_place(functional, schema):
            function = _in_place(declaration.function)
        else:
            continue
        found.append(Derived(op=op, source=declaration.op, function=function))
    return found


def _relatives(op: str) -> Iterator[tuple[str, Any]]:
    namespace, name, own = op.split(".")
    for packet in (name, f"{name}_"):
        found = getattr(getattr(torch.ops, namespace), packet, None)
        for overload in found.overloads() if found is not None else ():
            other = f"{namespace}.{packet}.{overload}"
            if (packet, overload) != (name, own) and (func := overload_of(other)) is not None:
                yield other, func._schema


def _outputs(functional: Any, schema: Any) -> list[str]:
    """Return the names of the ``out=`` arguments that alone set ``schema`` apart; maybe none."""
    outs = [argument for argument in schema.arguments if argument.is_out]
    rest = [argument for argument in schema.arguments if not argument.is_out]
    if not outs or len(outs) != len(functional.returns):
        return []
    return [a.name for a in outs] if _taken(rest) == _taken(functional.arguments) else []


def _is_in_place(functional: Any, schema: Any) -> bool:
    changed = [a for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write]
    return (
        len(changed) == len(functional.returns) == 1
        and changed[0] is not None
        and changed[0].name == schema.arguments[0].name
        and not changed[0].is_out
        and _taken(schema.arguments) == _taken(functional.arguments)
    )


def _taken(arguments: Sequence[Any]) -> list[tuple[str, str, bool]]:
    return [(a.name, str(a.type), a.kwarg_only) for a in arguments]


def _with_outputs(function: Kernel, names: Sequence[str], *, returns: bool) -> Kernel:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        outs = [kwargs.pop(name) for name in names]
        results = function(*args, **kwargs)
        for out, result in zip(outs, (results,) if len(outs) == 1 else results, strict=True):
            _copy(out, result)
        if not returns:
            return None
        return outs[0] if len(outs) == 1 else tuple(outs)

    return call


def _in_place(function: Kernel) -> Kernel:
    @functools.wraps(function)
    def call(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        result = function(self, *args, **kwargs)
        if result.shape != self.shape:
            raise RuntimeError(
                f"output with shape {list(self.shape)} doesn't match the broadcast shape "
                f"{list(result.shape)}"
            )
        _check_cast(result, self)
        self.copy_(result)
        return self

    return call


def _copy(out: Any, result: Any) -> None:
    """Copy a result, or each of a list of them; what an op leaves out stays as it is."""
    if isinstance(out, list):
        for one, made in zip(out, result, strict=True):
            _copy_tensor(one, made)
    elif result is not None:
        _copy_tensor(out, result)


def _copy_tensor(out: torch.Tensor, result: torch.Tensor) -> None:
    _check_cast(result, out)
    if out.shape != result.shape:
        if out.numel():
            warnings.warn(
                f"An output with one or more elements was resized since it had shape "
                f"{list(out.shape)}, which does not match the required output shape "
                f"{list(result.shape)}.",
                stacklevel=3,
            )
        out.resize_(result.shape)
    out.copy_(result)


def _check_cast(result: torch.Tensor, out: torch.Tensor) -> None:
    if not torch.can_cast(result.dtype, out.dtype):
        raise RuntimeError(
            f"result type {_name(result)} can't be cast to the desired output type {_name(out)}"
        )


def _name(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
