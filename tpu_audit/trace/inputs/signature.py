"""What a model's forward takes."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tpu_audit.trace.inputs.interface import InputContext

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def accepts(ctx: InputContext, *names: str) -> bool:
    """Tell whether forward names all of these parameters."""
    return all(name in ctx.parameters for name in names)


def required(ctx: InputContext) -> set[str]:
    """Return the parameters of forward that have no default."""
    return _without_default(ctx.parameters)


def needed(function: Callable[..., Any]) -> set[str]:
    """Return the parameters of ``function`` (or of a module's forward) that have no default."""
    return _without_default(_parameters(function))


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(getattr(function, "forward", function)).parameters


def _without_default(parameters: Mapping[str, inspect.Parameter]) -> set[str]:
    return {
        name
        for name, parameter in parameters.items()
        if parameter.kind in _NAMED and parameter.default is inspect.Parameter.empty
    }


def main_inputs(ctx: InputContext) -> tuple[str, ...]:
    """Return what the class itself calls its main inputs."""
    name: Any = getattr(ctx.model, "main_input_name", "input_ids")
    return (name,) if isinstance(name, str) else tuple(name)


def is_main(ctx: InputContext, name: str) -> bool:
    """Tell whether forward takes ``name`` and either needs it or calls it its main input."""
    return accepts(ctx, name) and (name in main_inputs(ctx) or name in required(ctx))


def fitting(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``values`` that ``function`` names as parameters."""
    names = _parameters(function)
    return {name: value for name, value in values.items() if name in names}
