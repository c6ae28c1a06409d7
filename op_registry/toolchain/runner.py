"""The child that runs StableHLO on XLA:CPU.

Request: ``{"program": path of the text, "inputs": path, "outputs": path}``, the last two files of
tensors (``op_registry.toolchain.arrays``). The result is an ``Execution``; the outputs are written
when its outcome is ``ok``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from op_registry.toolchain.answers import Execution, Outcome
from op_registry.toolchain.arrays import load_numpy, save_numpy
from op_registry.toolchain.lu import replace_lu
from op_registry.toolchain.modules import Parsed, SkewError, is_skew, parsed, short
from op_registry.toolchain.programs import has_mosaic
from op_registry.toolchain.serve import serve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from op_registry.toolchain.serve import Handle

_MOSAIC = "a Mosaic kernel runs on a TPU only"


def prepare() -> Handle:
    """Import jax and return the function that answers requests."""
    import jax

    jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - else it narrows the inputs
    jax.devices("cpu")
    return _handle


def _handle(request: dict[str, Any]) -> dict[str, Any]:
    text = Path(request["program"]).read_text(encoding="utf-8")
    answer, outputs = run_program(text, load_numpy(request["inputs"]))
    if answer.outcome is Outcome.OK:
        save_numpy(request["outputs"], outputs)
    return answer.to_json()


def run_program(text: str, inputs: Sequence[Any]) -> tuple[Execution, list[Any]]:
    """Run the StableHLO ``text`` on numpy arrays; return what came of it and its outputs.

    Raises ValueError when the arrays are not what the program takes.
    """
    if has_mosaic(text):
        return Execution(outcome=Outcome.REFUSED, message=_MOSAIC), []
    try:
        with parsed(text) as program:
            return _run(program, inputs)
    except SkewError as error:
        return Execution(outcome=Outcome.SKEW, message=str(error)), []


def _run(program: Parsed, inputs: Sequence[Any]) -> tuple[Execution, list[Any]]:
    import numpy as np
    from jax.errors import JaxRuntimeError

    _check(program.module, inputs)
    rewritten = tuple(sorted({*program.rewritten, *replace_lu(program.module)}))
    try:
        outputs = [np.asarray(array) for array in _execute(program.module, inputs)]
    except JaxRuntimeError as error:
        outcome = Outcome.SKEW if is_skew(error) else Outcome.REFUSED
        message = short(str(error))
        return Execution(outcome=outcome, message=message, rewritten=rewritten), []
    dtypes, shapes = ([array.dtype.name for array in outputs], [array.shape for array in outputs])
    answer = Execution(
        outcome=Outcome.OK,
        rewritten=rewritten,
        dtypes=tuple(dtypes),
        shapes=tuple(shapes),
    )
    return answer, outputs


def _execute(module: Any, inputs: Sequence[Any]) -> list[Any]:
    import jax
    from jax._src.lib import xla_client

    device = jax.devices("cpu")[0]
    devices = xla_client._xla.DeviceList((device,))
    loaded = device.client.compile_and_load(module, devices, xla_client.CompileOptions())
    results = loaded.execute_sharded([jax.device_put(array, device) for array in inputs])
    return [shards[0] for shards in results.disassemble_into_single_device_arrays()]


def _check(module: Any, inputs: Sequence[Any]) -> None:
    """Compare the arrays with the program's parameters: XLA would read past their ends."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    main = next(op for op in module.body.operations if op.name.value == "main")
    expected = [str(kind) for kind in ir.FunctionType(main.type).inputs]
    given = [
        str(ir.RankedTensorType.get(array.shape, mlir.dtype_to_ir_type(array.dtype)))
        for array in inputs
    ]
    if given != expected:
        raise ValueError(f"the program takes {expected}; given are {given}")


if __name__ == "__main__":
    serve(prepare)
