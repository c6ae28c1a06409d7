"""Runs in the interpreter that has the wheel: lowers samples and computes what they should give.

A server for ``toolchain.Worker``. A request names a dtype, a folder and what to do::

    {"dtype": "float32", "folder": "/a/folder", "ops": ["aten.abs.default"], "what": "samples"}

(``ops``: null for all; ``what``: ``samples``, or ``gradients`` for forward and backward) and is
answered, when every op has had its turn, with ``{"ops": n, "samples": n, "lowered": n,
"cpu_seconds": x, "own_seconds": y}`` over what this request did: of the forks that lower, and of
this process, which makes the samples of a dtype once. Meanwhile the results appear in the folder:

``samples.<dtype>.jsonl``: a line an op, in the order of their names, flushed line by line. Ops that
already have a line are passed over, so a request that was cut short goes on when it is made again.
An op without samples has a line as well. A line is ::

    {"op": "aten.abs.default", "dtype": "float32",
     "error": "",                                  why it has no samples, if making them crashed
     "samples": [{
       "index": 0,
       "arguments": {"dim": 1},                    what is no tensor, defaults included
       "tensors": {"self": ["float32", [2, 3]]},   a list of those for a list of tensors
       "lowered": true,                            or [cause, message], causes of evidence.Cause
       "program": "<digest>" or null,              null: refused, or no tensor comes out of it
       "values": null or {"path": "values/...",    relative to the folder: toolchain.arrays
                  "inputs": 2, "outputs": 1,       the file has the program's arguments, eager's
                  "references": 1},                outputs, and those from wider inputs (or none)
       "flags": ["random"],
       "undefined": [1],                           outputs that hold uninitialised memory
       "tolerance": null or [atol, rtol]           where torch's tests allow more than usual
    }]}

Flags: ``random`` (the op may draw random numbers; a sample that lowered drew none on the device),
``host_integers`` (lengths and indices stayed on the CPU), ``no_values`` (the CPU refuses the call),
``shape_only`` (every output is uninitialised memory), ``hidden_write`` (the op writes to an
argument although its schema does not say so), ``reference_kernel`` (the CPU has no kernel, and the
op's own reference kernel gave the values: results it has not are in ``undefined``).

Outputs are the returned tensors, then arguments that were written to and not returned.

``programs/<digest>.mlir``: StableHLO, once for all samples that share it.

``gradients.<dtype>.jsonl``: the same for up to two samples of an op that the CPU can differentiate.
The program computes the outputs, then the gradients of all arguments that have one, from the
arguments and, behind them, a cotangent for each output; the values are those. A gradient that the
backend does not give is ``["values", "the gradient is lost: ..."]``.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from op_registry.build.device import initialise
from op_registry.build.table import read_table
from op_registry.toolchain.serve import serve

if TYPE_CHECKING:
    from op_registry.toolchain.serve import Handle


def _prepare() -> Handle:
    initialise()
    table = read_table()
    import torch

    # After the table: torch's own test inputs add ops to it.
    from op_registry.verify.cases import Cases
    from op_registry.verify.examine import Examiner
    from op_registry.verify.examine_joint import JointExaminer
    from op_registry.verify.stretches import lower_all

    examiners = {one.kind: one for one in (Examiner, JointExaminer)}
    # Threads of a pool do not survive a fork.
    torch.set_num_threads(1)
    known: dict[str, Cases] = {}

    def handle(request: dict[str, Any]) -> dict[str, Any]:
        dtype, start = request["dtype"], time.process_time()
        if dtype not in known:
            known.clear()
            known[dtype] = Cases(table, dtype)
        wanted = table if request.get("ops") is None else request["ops"]
        ops = sorted(op for op in wanted if op in table)
        folder = Path(request["folder"])
        examiner = examiners[request.get("what", "samples")](known[dtype], table, folder)
        done = lower_all(examiner, ops, folder)
        return {**done, "own_seconds": round(time.process_time() - start, 1)}

    return handle


if __name__ == "__main__":
    serve(_prepare)
