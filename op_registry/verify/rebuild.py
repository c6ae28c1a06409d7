"""Makes a sample call again from its record, and Python code that makes it.

Runs in the interpreter that has torch. A record (``op_registry.verify.lower_child``) has the
arguments as JSON and the tensors' shapes; the file of its values has the tensors.
"""

from __future__ import annotations

import base64
import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from op_registry.build.samples.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MOST_WRITTEN_OUT = 64
"""Elements of a tensor up to which code lists them; beyond, it has their bytes."""


NAMES = {"torch": torch, "b64decode": base64.b64decode, "inf": math.inf, "nan": math.nan}
"""What the code of a call needs."""


class CannotRebuildError(Exception):
    """The record does not hold all that the call takes; the text says what is missing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A call of an op: arguments by name, in the schema's order."""

    op: str
    func: Any
    values: Mapping[str, Any]

    def sample(self) -> Sample:
        """Return the call as a sample."""
        args, kwargs = [], {}
        for argument in self.func._schema.arguments:
            if argument.kwarg_only:
                kwargs[argument.name] = self.values[argument.name]
            else:
                args.append(self.values[argument.name])
        return Sample(args=tuple(args), kwargs=kwargs)

    def inputs(self) -> list[torch.Tensor]:
        """Return the tensors that a program of the call takes: all but those only written to."""
        given = [
            self.values[argument.name]
            for argument in self.func._schema.arguments
            if not argument.is_out
        ]
        return [leaf for leaf in pytree.tree_leaves(given) if isinstance(leaf, torch.Tensor)]

    def mapped(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Call:
        """Return the call with every tensor changed."""
        values = {name: _mapped(value, change) for name, value in self.values.items()}
        return Call(op=self.op, func=self.func, values=values)

    def code(self, written: Sequence[str] = ()) -> str:
        """Return a Python function ``call(device)`` that makes the tensors and the call.

        It returns what the call returns, and the arguments ``written`` to besides.
        """
        lines = ["def call(device):"]
        given: list[str] = []
        for argument in self.func._schema.arguments:
            name, value = argument.name, self.values[argument.name]
            if _has_tensor(value):
                text = _variable(name)
                lines.append(f"    {text} = {literal(value)}")
            else:
                text = "device" if isinstance(value, torch.device) else literal(value)
            given.append(f"{name}={text}" if argument.kwarg_only else text)
        result = f"torch.ops.{self.op}({', '.join(given)})"
        lines.append(f"    return {', '.join([result, *map(_variable, written)])}")
        return "\n".join(lines) + "\n"


def _variable(argument: str) -> str:
    return "input" if argument == "self" else argument


def rebuild(op: str, func: Any, record: Mapping[str, Any], tensors: Sequence[torch.Tensor]) -> Call:
    """Return the call that ``record`` describes, with ``tensors`` in the order of the program.

    Raises CannotRebuildError where the record does not say enough, or says something else.
    """
    left = iter(tensors)
    values: dict[str, Any] = {}
    for argument in func._schema.arguments:
        name = argument.name
        if argument.is_out:
            # Only written to: the program does not take it.
            values[name] = _made(record["tensors"][name])
        elif name in record["tensors"]:
            values[name] = _taken(record["tensors"][name], left)
        else:
            values[name] = _read(record["arguments"][name], str(argument.type))
    if next(left, None) is not None:
        raise CannotRebuildError("the values hold more tensors than the arguments")
    return Call(op=op, func=func, values=values)


def _taken(described: Any, left: Iterator[torch.Tensor]) -> Any:
    if not isinstance(described, list):
        return described
    if _is_leaf(described):
        tensor = next(left, None)
        if tensor is None or [str(tensor.dtype)[6:], list(tensor.shape)] != described:
            raise CannotRebuildError("the values hold other tensors than the arguments")
        return tensor
    return [_taken(one, left) for one in described]


def _made(described: Any) -> Any:
    if _is_leaf(described):
        return torch.zeros(described[1], dtype=getattr(torch, described[0]))
    return [_made(one) for one in described] if isinstance(described, list) else described


def _is_leaf(described: Any) -> bool:
    """Tell ``["float32", [2, 3]]`` from a list of those."""
    return isinstance(described, list) and len(described) > 1 and isinstance(described[0], str)


def _read(plain: Any, kind: str) -> Any:
    """Return the value of an argument that is no tensor; ``kind`` is its type in the schema."""
    if isinstance(plain, list):
        return [_read(one, kind) for one in plain]
    if not isinstance(plain, str) or "str" in kind.lower():
        return plain
    if plain in {"inf", "-inf", "nan"}:
        return float(plain)
    if plain.startswith("torch."):
        return getattr(torch, plain.removeprefix("torch."))
    if plain.startswith("device("):
        return torch.device("cpu")
    with contextlib.suppress(ValueError):
        return complex(plain)
    raise CannotRebuildError(f"the value {plain!r} cannot be made again")


def _mapped(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    return [_mapped(one, change) for one in value] if isinstance(value, list) else value


def _has_tensor(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_tensor, value))
    return isinstance(value, torch.Tensor)


def literal(value: Any) -> str:
    """Return Python code for an argument; ``inf`` and ``nan`` are names in it."""
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    return str(value) if isinstance(value, torch.dtype | torch.layout) else repr(value)


def _tensor(tensor: torch.Tensor) -> str:
    kind = f"dtype={tensor.dtype}"
    if tensor.numel() == 0:
        return f"torch.empty({list(tensor.shape)}, {kind}, device=device)"
    if bool((tensor == tensor.reshape(-1)[0]).all()):
        one = _numbers(tensor.reshape(-1)[0].item())
        return f"torch.full({list(tensor.shape)}, {one}, {kind}, device=device)"
    if tensor.numel() <= MOST_WRITTEN_OUT:
        return f"torch.tensor({_numbers(tensor.tolist())}, {kind}, device=device)"
    data = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    text = base64.b64encode(data).decode()
    made = f'torch.frombuffer(bytearray(b64decode("{text}")), {kind})'
    return f"{made}.reshape({list(tensor.shape)}).to(device)"


def _numbers(tree: Any) -> str:
    if isinstance(tree, list):
        return f"[{', '.join(map(_numbers, tree))}]"
    if isinstance(tree, complex):
        return f"complex({_numbers(tree.real)}, {_numbers(tree.imag)})"
    if isinstance(tree, float) and not math.isfinite(tree):
        return str(tree)
    return repr(tree)
