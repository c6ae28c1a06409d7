"""Runs in the interpreter with jax and torch: runs a program on XLA:CPU and compares its results.

A server for ``toolchain.Worker``. A request names the program and one sample's values::

    {"op": "aten.abs.default", "dtype": "float32", "arguments": {}, "program": path,
     "values": path, "inputs": 2, "outputs": 1, "references": 1, "undefined": [],
     "tolerance": null or [rtol, atol]}

and is answered with ``{"outcome": "ok", "message": "", "cause": "", "kind": "", "rewritten": []}``.
``outcome`` is ``ok`` (agrees), ``differs`` (``kind`` says in what, ``cause`` how the evidence files
it), ``refused`` or ``skew``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from op_registry.evidence import Cause
from op_registry.toolchain import arrays, runner
from op_registry.toolchain.answers import Outcome
from op_registry.toolchain.serve import serve
from op_registry.verify.compare import compare
from op_registry.verify.invariants import invariants
from op_registry.verify.widened import widened

IN_FLOAT32 = "numerics: computed in float32, the results rounded"
_NARROW = frozenset({"bfloat16", "float16"})

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from op_registry.toolchain.serve import Handle
    from op_registry.verify.compare import Difference


def prepare() -> Handle:
    """Import torch and jax and return the function that answers requests."""
    import torch

    torch.set_num_threads(1)
    runner.prepare()
    return judge


def judge(request: dict[str, Any]) -> dict[str, Any]:
    """Run the program of ``request`` and say how its results compare."""
    text = Path(request["program"]).read_text(encoding="utf-8")
    inputs = arrays.load_numpy(request["values"])[: request["inputs"]]
    execution, outputs = runner.run_program(text, inputs)
    answer = {
        "outcome": execution.outcome.value,
        "message": execution.message or "",
        "cause": "",
        "kind": "",
        "rewritten": list(execution.rewritten),
    }
    if execution.outcome is not Outcome.OK:
        return answer
    difference = _compare(request, _as_torch(outputs))
    if difference is None:
        return answer
    if difference.cause is Cause.VALUES and _agrees_in_float32(request, text, inputs):
        return answer | {"rewritten": [*answer["rewritten"], IN_FLOAT32]}
    return answer | {
        "outcome": "differs",
        "message": difference.message,
        "cause": difference.cause.value,
        "kind": difference.kind.value,
    }


def _agrees_in_float32(request: dict[str, Any], text: str, inputs: Sequence[Any]) -> bool:
    """Tell whether a program of 16-bit floats is right when it rounds its results only."""
    wide = widened(text)
    if wide is None:
        return False
    taken = [_wide(array) for array in inputs]
    execution, outputs = runner.run_program(wide, taken)
    if execution.outcome is not Outcome.OK:
        return False
    known = arrays.load(request["values"])[request["inputs"] :]
    answers = [
        answer.to(eager.dtype) if answer.is_floating_point() else answer
        for answer, eager in zip(_as_torch(outputs), known, strict=False)
    ]
    return _compare(request, answers) is None


def _wide(array: Any) -> Any:
    return array.astype("float32") if array.dtype.name in _NARROW else array


def _compare(request: dict[str, Any], answers: Sequence[Tensor]) -> Difference | None:
    import torch

    known = arrays.load(request["values"])
    first, second = request["inputs"], request["inputs"] + request["outputs"]
    inputs, eager, reference = known[:first], known[first:second], known[second:]
    granted = request["tolerance"]

    def unique(results: Sequence[Tensor]) -> list[Tensor]:
        return invariants(request["op"], results, inputs, request["arguments"])

    return compare(
        unique(answers),
        unique(eager),
        unique(reference) if reference else None,
        tolerance=tuple(granted) if granted else None,
        undefined=request["undefined"],
        computed=getattr(torch, request["dtype"]),
    )


def _as_torch(outputs: Sequence[Any]) -> list[Tensor]:
    """Take the results over through a file: numpy has no bfloat16 that torch would know."""
    with tempfile.NamedTemporaryFile() as file:
        arrays.save_numpy(file.name, outputs)
        return arrays.load(file.name)


if __name__ == "__main__":
    serve(prepare)
