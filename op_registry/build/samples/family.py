"""Makes samples for an op from those of its relatives: in-place, ``out=``, copying forms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from op_registry.build.samples.sample import Sample
from op_registry.build.samples.trial import outcome
from op_registry.build.table import overload_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_PREFIXES = ("special_", "linalg_", "fft_")
_SUFFIXES = ("_", "_copy", "_functional")


def family(op: str) -> str:
    """Return the name that relatives share: ``abs`` for ``aten.special_abs_.out``."""
    name = op.split(".")[1]
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name


class Families:
    """Known samples as values by argument name, found by family."""

    def __init__(self, known: Mapping[str, Sequence[Sample]]) -> None:
        self._bound: dict[str, list[tuple[dict[str, Any], str, Sample]]] = {}
        for op in sorted(known):
            func = overload_of(op)
            if func is None:
                continue
            for sample in known[op]:
                values = bind(func._schema, sample)
                self._bound.setdefault(family(op), []).append((values, op, sample))

    def samples(self, op: str, func: Any) -> Iterator[Sample]:
        """Yield calls of ``func`` with the arguments of its relatives; some may not make sense."""
        for values, relative, sample in self._bound.get(family(op), ()):
            outputs = _outputs(relative, sample) if _out_arguments(func._schema) else []
            made = call(func._schema, values, outputs)
            if made is not None:
                yield replace(made, tolerance=sample.tolerance, counts_at=sample.counts_at)


def bind(schema: Any, sample: Sample) -> dict[str, Any]:
    """Return the arguments that ``sample`` gives, by name."""
    names = [argument.name for argument in schema.arguments]
    return {**dict(zip(names, sample.args, strict=False)), **sample.kwargs}


def _out_arguments(schema: Any) -> list[Any]:
    return [argument for argument in schema.arguments if argument.is_out]


def _outputs(relative: str, sample: Sample) -> list[torch.Tensor]:
    ran, result = outcome(overload_of(relative), sample)
    leaves = pytree.tree_leaves(result) if ran else []
    return [torch.zeros_like(leaf) for leaf in leaves if isinstance(leaf, torch.Tensor)]


def call(schema: Any, values: Mapping[str, Any], outputs: list[torch.Tensor]) -> Sample | None:
    """Return the call with ``values`` by argument name, None when one is lacking.

    ``outputs`` fill the ``out=`` arguments in their order.
    """
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    outs = list(outputs)
    for argument in schema.arguments:
        if argument.is_out:
            wants_list = "List" in str(argument.type)
            if not outs:
                return None
            value = [outs.pop(0) for _ in range(len(outs))] if wants_list else outs.pop(0)
        elif argument.name in values:
            value = values[argument.name]
        elif argument.has_default_value():
            value = argument.default_value
        else:
            return None
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    return Sample(args=tuple(args), kwargs=kwargs)
