"""Gives XLA:CPU a form of the one TPU custom call that it has none of: the LU decomposition.

JAX lowers ``jax.lax.linalg.lu`` to the custom call ``LuDecomposition`` for a TPU, to LAPACK for a
CPU, with the same three results: the factors, the pivots, the permutation. Runs in the child, with
an MLIR context entered.
"""

from __future__ import annotations

from typing import Any

BY_LAPACK = "LuDecomposition by LAPACK"
_TARGET = "LuDecomposition"
_DTYPES = {
    "f32": "float32",
    "f64": "float64",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}


def replace_lu(module: Any) -> set[str]:
    """Replace every LU custom call of ``module``, a jaxlib MLIR module; return how, in words.

    A call in a type that LAPACK does not have stays as it is.
    """
    from jaxlib.mlir import ir

    found: list[Any] = []

    def visit(op: Any) -> Any:
        if op.name == "stablehlo.custom_call" and op.opview.call_target_name.value == _TARGET:
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    known = [op for op in found if str(op.operands[0].type.element_type) in _DTYPES]
    for op in known:
        _replace(module, op)
    return {BY_LAPACK} if known else set()


def _replace(module: Any, op: Any) -> None:
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func

    kind = op.operands[0].type
    source = ir.Module.parse(_lowered(list(kind.shape), _DTYPES[str(kind.element_type)]))
    name = mlir.merge_mlir_modules(module, "lu_on_cpu", source)
    with ir.InsertionPoint(op), op.location:
        call = func.CallOp([result.type for result in op.results], name, list(op.operands))
    for old, new in zip(op.results, call.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()


def _lowered(shape: list[int], dtype: str) -> str:
    import jax

    operand = jax.ShapeDtypeStruct(tuple(shape), dtype)
    text: str = jax.jit(jax.lax.linalg.lu).lower(operand).as_text()
    return text
