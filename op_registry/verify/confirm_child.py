"""Runs in the interpreter that has the wheel: makes variants of a sample, and lowers them afresh.

A server for ``toolchain.Worker``. A request names a record of ``op_registry.verify.lower_child``::

    {"op": "aten.abs.default", "dtype": "float32", "record": {...}, "values": path,
     "folder": scratch, "edges": ["nan"] or null, "edge": "nan" or "", "index": [0, 1] or null}

and is answered with the variants that could be made, the smallest first::

    {"variants": [{"name": "one element", "program": path or null, "values": path,
                   "inputs": 1, "outputs": 1, "references": 1, "undefined": [], "raises": "",
                   "code": "def call(device): ..."}]}

With ``edges``: the sample at each edge (``op_registry.verify.edges``), for the program it has.
``raises`` is then what eager PyTorch raises, if it does. Without: variants of the sample at
``edge``, each with a program of its own. ``same`` is the sample itself, ``shuffled`` has every
tensor's elements in another order, ``one element`` has of every tensor only the element at
``index``, ``constant`` one number throughout.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from op_registry.build.device import initialise
from op_registry.toolchain import arrays
from op_registry.toolchain.serve import serve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torch import Tensor

    from op_registry.toolchain.serve import Handle
    from op_registry.verify.rebuild import Call

_SEED = 1
_MOST_WORDS = 200
"""Characters of an error's first line."""


def _prepare() -> Handle:
    initialise()
    import torch

    torch.set_num_threads(1)
    return _handle


def _handle(request: dict[str, Any]) -> dict[str, Any]:
    call = _call(request)
    made = _at_edges(call, request) if request["edges"] else _afresh(call, request)
    return {"variants": [variant for variant in made if variant is not None]}


def _call(request: Mapping[str, Any]) -> Call:
    from op_registry.build.table import overload_of
    from op_registry.verify.rebuild import rebuild

    op, record = request["op"], request["record"]
    tensors = arrays.load(request["values"])
    inputs, outputs = record["values"]["inputs"], record["values"]["outputs"]
    call = rebuild(op, overload_of(op), record, tensors[:inputs])
    _check(call, record, tensors[inputs : inputs + outputs])
    return call


def _check(call: Call, record: Mapping[str, Any], outputs: list[Tensor]) -> None:
    """Raise when the call made again, or its code, gives something else than the record's did."""
    from torch.utils import _pytree as pytree

    from op_registry.verify.compare import compare
    from op_registry.verify.rebuild import NAMES, CannotRebuildError
    from op_registry.verify.values import run

    ran = run(call.func, call.sample())
    names: dict[str, Any] = dict(NAMES)
    exec(_code(call), names)  # noqa: S102 - our own code, from a record of our own
    by_code = pytree.tree_leaves(names["call"]("cpu"))
    undefined = record["undefined"]
    if (
        ran is None
        or compare(ran[0], outputs, undefined=undefined)
        or compare(by_code, outputs, undefined=undefined)
    ):
        raise CannotRebuildError("the call made again gives other results")


def _code(call: Call) -> str:
    """Return the call as code that also returns the arguments which it only writes to."""
    from torch.utils import _pytree as pytree

    from op_registry.verify.results import written
    from op_registry.verify.values import run

    ran = run(call.func, call.sample())
    sample = call.sample().copied()
    tensors = sample.tensors()
    places = written(call.func, sample) | (ran[1] if ran else frozenset())
    returned = {id(leaf) for leaf in pytree.tree_leaves(call.func(*sample.args, **sample.kwargs))}
    changed = {place for place in places if id(tensors[place]) not in returned}
    originals = {id(call.sample().tensors()[place]) for place in changed}
    names = [name for name, value in call.values.items() if id(value) in originals]
    return call.code(names)


def _at_edges(call: Call, request: Mapping[str, Any]) -> Iterator[dict[str, Any] | None]:
    from op_registry.verify.edges import edged

    for edge in request["edges"]:
        if changed := edged(call, edge):
            yield _expecting(edge, changed, request)


def _afresh(call: Call, request: Mapping[str, Any]) -> Iterator[dict[str, Any] | None]:
    from op_registry.verify.edges import edged

    base = edged(call, request["edge"]) if request["edge"] else call
    if base is not None:
        for name, variant in _variants(base, request["index"]):
            yield _lowered(name, variant, request)


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


def _lowered(name: str, call: Call, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Lower a variant and keep its program and values; None when it does not lower."""
    from op_registry.verify.lowering import Lowered, lower

    found, sample = _expecting(name, call, request), call.sample()
    answer = lower(call.func, sample, frozenset(found.pop("hidden", ())))
    if not isinstance(answer, Lowered) or not answer.program or answer.host_integers:
        return None
    program = Path(request["folder"], f"{name}.mlir")
    program.write_text(answer.program, encoding="utf-8")
    return found | {"program": str(program)}


def _expecting(name: str, call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Keep a variant's inputs with what eager PyTorch gives for them, or say what it raises."""
    import torch

    from op_registry.verify.values import expected

    right = expected(call.func, call.sample(), getattr(torch, request["dtype"]))
    values, inputs = Path(request["folder"], f"{name}.values"), call.inputs()
    outputs: Sequence[Tensor] = right.outputs if right else ()
    references: Sequence[Tensor] = (right.reference or ()) if right else ()
    arrays.save(values, [*inputs, *outputs, *references])
    return {
        "name": name,
        "program": None,
        "values": str(values),
        "inputs": len(inputs),
        "outputs": len(outputs),
        "references": len(references),
        "undefined": list(right.undefined) if right else [],
        "hidden": sorted(right.hidden) if right else [],
        "raises": "" if right else _raised(call),
        "code": _code(call) if right else call.code(),
    }


def _raised(call: Call) -> str:
    sample = call.sample().copied()
    try:
        call.func(*sample.args, **sample.kwargs)
    except Exception as error:  # noqa: BLE001 - what it raises is the finding
        line = (str(error).splitlines() or [""])[0]
        return f"{type(error).__name__}: {line}"[:_MOST_WORDS]
    return "no plain tensors as results"


if __name__ == "__main__":
    serve(_prepare)
