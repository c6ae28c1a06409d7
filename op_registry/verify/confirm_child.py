"""Runs in the interpreter that has the wheel: lowers a sample that failed afresh, and varied.

A server for ``toolchain.Worker``. A request names a record of ``op_registry.verify.lower_child``::

    {"op": "aten.abs.default", "dtype": "float32", "record": {...}, "values": path,
     "folder": scratch, "index": [0, 1] or null}

and is answered with the variants that could be made, the smallest first::

    {"variants": [{"name": "one element", "program": path, "values": path,
                   "inputs": 1, "outputs": 1, "references": 1, "undefined": [],
                   "code": "def call(device): ..."}]}

``same`` is the sample itself, ``shuffled`` has every tensor's elements in another order, ``one
element`` has of every tensor only the element at ``index``, ``constant`` one number throughout.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from op_registry.build.device import initialise
from op_registry.toolchain import arrays
from op_registry.toolchain.serve import serve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torch import Tensor

    from op_registry.toolchain.serve import Handle
    from op_registry.verify.rebuild import Call

_SEED = 1


def _prepare() -> Handle:
    initialise()
    import torch

    torch.set_num_threads(1)
    return _handle


def _handle(request: dict[str, Any]) -> dict[str, Any]:
    from op_registry.build.table import overload_of
    from op_registry.verify.rebuild import rebuild

    op, record = request["op"], request["record"]
    tensors = arrays.load(request["values"])
    inputs, outputs = record["values"]["inputs"], record["values"]["outputs"]
    call = rebuild(op, overload_of(op), record, tensors[:inputs])
    _check(call, record, tensors[inputs : inputs + outputs])
    made = (
        _kept(name, variant, request) for name, variant in _variants(call, request.get("index"))
    )
    return {"variants": [one for one in made if one is not None]}


def _check(call: Call, record: Mapping[str, Any], outputs: list[Tensor]) -> None:
    """Raise when the call made again, or its code, gives something else than the record's did."""
    from torch.utils import _pytree as pytree

    from op_registry.verify.compare import compare
    from op_registry.verify.rebuild import NAMES, CannotRebuildError
    from op_registry.verify.values import run

    ran = run(call.func, call.sample())
    names: dict[str, Any] = dict(NAMES)
    exec(call.code(), names)  # noqa: S102 - our own code, from a record of our own
    returned = pytree.tree_leaves(names["call"]("cpu"))
    undefined = record["undefined"]
    if (
        ran is None
        or compare(ran[0], outputs, undefined=undefined)
        or compare(returned, outputs[: len(returned)], undefined=undefined)
    ):
        raise CannotRebuildError("the call made again gives other results")


def _variants(call: Call, index: list[int] | None) -> Iterator[tuple[str, Call]]:
    import torch

    if index is not None:
        place = tuple(slice(i, i + 1) for i in index)
        shapes = {t.shape for t in call.sample().tensors() if t.dim()}
        if len(shapes) == 1 and len(index) == len(next(iter(shapes))):
            yield "one element", call.mapped(lambda t: t[place].clone() if t.dim() else t)
    yield "constant", call.mapped(_constant)
    yield "same", call
    generator = torch.Generator().manual_seed(_SEED)

    def shuffled(tensor: Tensor) -> Tensor:
        order = torch.randperm(tensor.numel(), generator=generator)
        return tensor.reshape(-1)[order].reshape(tensor.shape)

    yield "shuffled", call.mapped(shuffled)


def _constant(tensor: Tensor) -> Tensor:
    """Fill with what is valid wherever an element was: the smallest index, one, False."""
    if tensor.numel() == 0 or tensor.dim() == 0:
        return tensor
    if tensor.is_floating_point() or tensor.is_complex():
        return tensor.new_ones(tensor.shape)
    return tensor.new_full(tensor.shape, tensor.min().item())


def _kept(name: str, call: Call, request: dict[str, Any]) -> dict[str, Any] | None:
    """Lower a variant and keep its program and values; None when it does not lower."""
    import torch

    from op_registry.verify.lowering import Lowered, lower
    from op_registry.verify.values import expected

    sample = call.sample()
    right = expected(call.func, sample, getattr(torch, request["dtype"]))
    if right is None:
        return None
    answer = lower(call.func, sample, right.hidden)
    if not isinstance(answer, Lowered) or not answer.program:
        return None
    folder = Path(request["folder"])
    program, values = folder / f"{name}.mlir", folder / f"{name}.values"
    program.write_text(answer.program, encoding="utf-8")
    tensors = sample.tensors()
    inputs, references = [tensors[at] for at in answer.inputs], right.reference or []
    arrays.save(values, [*inputs, *right.outputs, *references])
    return {
        "name": name,
        "program": str(program),
        "values": str(values),
        "inputs": len(inputs),
        "outputs": len(right.outputs),
        "references": len(references),
        "undefined": list(right.undefined),
        "code": call.code(),
    }


if __name__ == "__main__":
    serve(_prepare)
