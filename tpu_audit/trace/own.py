"""Programs of the user's own: a function that returns a module, or anything else to call.

The function runs with ``tpu`` as the default device and the trace's dtype as the default dtype, on
fake tensors. It returns

* a module, or (module, example inputs): its forward is traced in evaluation mode, without grad;
* any other callable, or (callable, inputs): it is called as it is, backward and optimizer included.

Example inputs are a tuple of positional or a dict of keyword arguments.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from tpu_audit.trace.build import count_parameters
from tpu_audit.types.errors import NotAuditedError, Stage, shorten

FORWARD = "forward"
STEP = "step"


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """What to call, and with what."""

    call: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    phase: str
    """``forward`` of a module, or ``step``: whatever a callable does."""
    modules: tuple[nn.Module, ...]
    """The modules that take part, as far as they can be found."""

    @property
    def name(self) -> str:
        """The module's class, or the callable's name."""
        if isinstance(self.call, nn.Module):
            return type(self.call).__name__
        return getattr(self.call, "__qualname__", type(self.call).__name__)

    @property
    def parameters(self) -> int:
        """Parameters of all modules found."""
        return sum(map(count_parameters, self.modules))


def own_folder(factory: tuple[str, str]) -> str:
    """Return the folder whose files are the user's own: that of the file, or of the package."""
    where = factory[0]
    if where.endswith(".py"):
        return str(Path(where).parent)
    spec = importlib.util.find_spec(where.partition(".")[0])
    origin = spec.origin if spec else None
    return str(Path(origin).parent) if origin else str(Path.cwd())


def make_program(factory: tuple[str, str], dtype: torch.dtype, device: str) -> Program:
    """Run the user's function; raises NotAuditedError when it fails or returns something else."""
    function = _find(*factory)
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device):
            made = function()
    except Exception as error:
        raise _failed(f"{factory[1]}() raised {shorten(error)}", "factory_failed") from error
    finally:
        torch.set_default_dtype(before)
    return _program(made, factory[1], dtype, device)


def _find(where: str, name: str) -> Callable[[], Any]:
    try:
        module = _load(Path(where)) if where.endswith(".py") else importlib.import_module(where)
    except Exception as error:
        raise _failed(f"{where} cannot be imported: {shorten(error)}", "import_failed") from error
    function: Any = getattr(module, name, None)
    if not callable(function):
        names = ", ".join(n for n, v in vars(module).items() if inspect.isfunction(v))
        raise _failed(
            f"{where} has no function {name!r}", "no_factory", f"it has: {names or 'no function'}"
        )
    return function  # type: ignore[no-any-return]


def _load(path: Path) -> Any:
    # Its neighbours are importable, as they are when the file is run.
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _program(made: Any, name: str, dtype: torch.dtype, device: str) -> Program:
    call, inputs = made if isinstance(made, tuple) and len(made) == 2 else (made, None)  # noqa: PLR2004
    if not callable(call):
        kind = type(call).__name__
        raise _failed(
            f"{name}() returned {kind}",
            "bad_factory",
            "return a module with example inputs, (module, (x,)), or a function to call",
        )
    if isinstance(call, nn.Module):
        return _forward(call, inputs, dtype, device)
    args, kwargs = _arguments(inputs)
    modules = tuple(_captured(call))
    return Program(call=call, args=args, kwargs=kwargs, phase=STEP, modules=modules)


def _forward(module: nn.Module, inputs: Any, dtype: torch.dtype, device: str) -> Program:
    if inputs is None and _required(module):
        raise _failed(
            f"the forward of {type(module).__name__} takes {', '.join(_required(module))}",
            "no_inputs",
            "return the module with example inputs: (module, (x,))",
        )

    def placed(tensor: torch.Tensor) -> torch.Tensor:
        wanted = dtype if tensor.is_floating_point() else tensor.dtype
        return tensor.to(device=device, dtype=wanted)

    module.to(device=device, dtype=dtype).eval()
    args, kwargs = pytree.tree_map_only(torch.Tensor, placed, _arguments(inputs))
    return Program(call=module, args=args, kwargs=kwargs, phase=FORWARD, modules=(module,))


def _required(module: nn.Module) -> list[str]:
    parameters = inspect.signature(module.forward).parameters.values()
    variadic = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    return [p.name for p in parameters if p.default is p.empty and p.kind not in variadic]


def _arguments(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if inputs is None:
        return (), {}
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    return (tuple(inputs), {}) if isinstance(inputs, list | tuple) else ((inputs,), {})


def _captured(call: Any) -> list[nn.Module]:
    """Return the modules that ``call`` closes over, is bound to or carries as attributes."""
    function = inspect.unwrap(getattr(call, "__func__", call))
    held = list(vars(getattr(call, "__self__", call)).values())
    if inspect.isfunction(function):
        held += inspect.getclosurevars(function).nonlocals.values()
    found = {id(leaf): leaf for leaf in pytree.tree_leaves(held) if isinstance(leaf, nn.Module)}
    return list(found.values())


def _failed(message: str, code: str, hint: str | None = None) -> NotAuditedError:
    return NotAuditedError(message, stage=Stage.BUILD, code=code, hint=hint)
