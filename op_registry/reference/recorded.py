"""Results of other libraries' CPU kernels, recorded where the library loads.

A library's wheel may not load beside a CPU build of torch. What its ops returned for the hand-made
samples is kept in ``recorded.json``; ``python -m op_registry.reference.recorded`` makes the file in
an environment that has the library.
"""

from __future__ import annotations

import functools
import json
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from op_registry.build.samples.handmade.declare import handmade_samples, makers
from op_registry.build.table import overload_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from op_registry.build.samples.sample import Sample
    from op_registry.reference.declare import Kernel

FILE = Path(__file__).with_name("recorded.json")
_LIBRARY = "torchvision"
_DIGITS = 12
"""Kept of a number: far below what f32 tells apart."""


def recorded(op: str) -> Kernel:
    """Return a stand-in for ``op`` that knows its results for the hand-made samples.

    They were computed in f64 and are rounded to the floating-point dtype of the call. Other
    arguments raise RuntimeError.
    """

    def look_up(*args: Any, **kwargs: Any) -> Any:
        for place, sample in enumerate(handmade_samples(op, torch.float64)):
            if _same((args, kwargs), (sample.args, sample.kwargs)):
                return _restored(_results()[op][place], _dtype(args))
        raise RuntimeError(f"no result of {op} is recorded for these arguments")

    return look_up


def record() -> dict[str, Any]:
    """Run every hand-made sample of the library's ops and return what the file holds.

    Raises ImportError where the library does not load.
    """
    __import__(_LIBRARY)
    found: dict[str, list[Any]] = {}
    for op in sorted(op for op in makers() if op.startswith(f"{_LIBRARY}.")):
        overload = overload_of(op)
        found[op] = [_run(overload, sample) for sample in handmade_samples(op, torch.float64)]
    versions = {name: metadata.version(name) for name in (_LIBRARY, "torch")}
    return {"source": f"CPU kernels of {_LIBRARY}, in float64", **versions, "results": found}


def _run(overload: Any, sample: Sample) -> list[Any]:
    copied = sample.copied()
    with torch.no_grad():
        leaves = pytree.tree_leaves(overload(*copied.args, **copied.kwargs))
    return [_stored(tensor) for tensor in leaves]


def _stored(tensor: torch.Tensor) -> dict[str, Any]:
    values = tensor.flatten().tolist()
    if tensor.is_floating_point():
        values = [float(f"{value:.{_DIGITS}g}") for value in values]
    dtype = str(tensor.dtype).removeprefix("torch.")
    return {"dtype": dtype, "shape": list(tensor.shape), "values": values}


def _restored(stored: Sequence[dict[str, Any]], dtype: torch.dtype) -> Any:
    tensors = []
    for one in stored:
        kept = getattr(torch, one["dtype"])
        values = torch.tensor(one["values"], dtype=kept).reshape(one["shape"])
        tensors.append(values.to(dtype) if kept.is_floating_point else values)
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def _same(ours: Any, theirs: Any) -> bool:
    mine, spec = pytree.tree_flatten(ours)
    others, other_spec = pytree.tree_flatten(theirs)
    return spec == other_spec and all(map(_alike, mine, others))


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape == other.shape and torch.equal(one.to(other.dtype), other)
    return bool(one == other)


def _dtype(args: Sequence[Any]) -> torch.dtype:
    tensors = (a for a in args if isinstance(a, torch.Tensor))
    return next(t.dtype for t in tensors if t.is_floating_point())


@functools.cache
def _results() -> dict[str, list[Any]]:
    results: dict[str, list[Any]] = json.loads(FILE.read_text(encoding="utf-8"))["results"]
    return results


def _text(found: dict[str, Any]) -> str:
    """Return JSON with a line for each op."""
    results = found["results"]
    lines = [f"  {json.dumps(op)}: {json.dumps(results[op])}" for op in results]
    kept = {name: value for name, value in found.items() if name != "results"}
    body = json.dumps(kept, indent=1).removesuffix("\n}")
    return body + ',\n "results": {\n' + ",\n".join(lines) + "\n }\n}\n"


if __name__ == "__main__":
    FILE.write_text(_text(record()), encoding="utf-8")
    sys.stdout.write(f"{FILE}\n")
