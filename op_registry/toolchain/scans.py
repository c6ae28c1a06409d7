"""Rewrites ``chlo.scan``, which the pinned jaxlib parses and neither compiler takes from it.

A scan takes N inputs of ``n`` rows along a dimension and M carries. Its region maps a row of each
input and the carries to a row of each output and the next carries; its results are the outputs,
stacked along that dimension, and the last carries. Runs in the child, with an MLIR context entered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_UNROLLED = 16
"""Rows up to which the region is written out row by row; beyond, a loop is.

XLA:CPU compiles a chain of rows in time quadratic in their number: 0.3 s for 16, 3 s for 64.
"""
UNROLLED = "chlo.scan unrolled"
LOOPED = "chlo.scan as stablehlo.while"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Scan:
    """What a scan op says."""

    op: Any
    inputs: tuple[Any, ...]
    inits: tuple[Any, ...]
    dimension: int
    rows: int
    reverse: bool

    @property
    def block(self) -> Any:
        """The region's block: its arguments are a row of each input, then the carries."""
        return self.op.regions[0].blocks[0]

    @property
    def stacked(self) -> tuple[Any, ...]:
        """Types of the stacked outputs."""
        types = [result.type for result in self.op.results]
        return tuple(types[: len(types) - len(self.inits)])


def rewrite_scans(module: Any) -> set[str]:
    """Replace every scan of ``module``, a jaxlib MLIR module; return how, in words."""
    found, notes = _scans(module), set[str]()
    for op in found:
        scan = _read(op)
        unroll = scan.rows <= MOST_UNROLLED
        notes.add(UNROLLED if unroll else LOOPED)
        results = _unroll(scan) if unroll else _loop(scan)
        for old, new in zip(op.results, results, strict=True):
            old.replace_all_uses_with(new)
        op.erase()
    return notes


def _scans(module: Any) -> list[Any]:
    """Return the scans, inner before outer."""
    from jaxlib.mlir import ir

    found: list[Any] = []

    def visit(op: Any) -> Any:
        if op.name == "chlo.scan":
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.POST_ORDER)
    return found


def _read(op: Any) -> _Scan:
    view = op.opview
    inputs, dimension = tuple(view.inputs), int(view.dimension)
    outputs = [*(value.type for value in inputs), *(result.type for result in op.results)]
    return _Scan(
        op=op,
        inputs=inputs,
        inits=tuple(view.inits),
        dimension=dimension,
        rows=outputs[0].shape[dimension],
        reverse=bool(view.is_reverse),
    )


def _unroll(scan: _Scan) -> list[Any]:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    with ir.InsertionPoint(scan.op), scan.op.location:
        carries, rows = list(scan.inits), list[list[Any]]()
        order = range(scan.rows)
        for index in reversed(order) if scan.reverse else order:
            taken = [_row(scan, value, index) for value in scan.inputs]
            out, carries = _step(scan, [*taken, *carries])
            rows.append([_as_slab(scan, value) for value in out])
        if scan.reverse:
            rows.reverse()
        if not rows:
            return [*(_zeros(kind) for kind in scan.stacked), *carries]
        columns = zip(*rows, strict=True)
        return [*(stablehlo.concatenate(list(c), scan.dimension) for c in columns), *carries]


def _row(scan: _Scan, value: Any, index: int) -> Any:
    """Return row ``index`` of ``value``, without the dimension."""
    from jaxlib.mlir.dialects import stablehlo

    shape = list(value.type.shape)
    start, limit = [0] * len(shape), list(shape)
    start[scan.dimension], limit[scan.dimension] = index, index + 1
    slab = stablehlo.slice(value, start, limit, [1] * len(shape))
    return stablehlo.reshape(_without(scan, value.type), slab)


def _step(scan: _Scan, arguments: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Write the region once for these arguments; return its output rows and next carries."""
    mapping = dict(zip(scan.block.arguments, arguments, strict=True))
    *body, end = scan.block.operations
    for op in body:
        copy = op.operation.clone()
        _use(copy, mapping)
        mapping.update(zip(op.operation.results, copy.results, strict=True))
    ends = [mapping.get(value, value) for value in end.operands]
    outputs = len(ends) - len(scan.inits)
    return ends[:outputs], ends[outputs:]


def _use(copy: Any, mapping: Mapping[Any, Any]) -> None:
    """Give an op, and those in its regions, the mapped values for those they had."""
    from jaxlib.mlir import ir

    def visit(op: Any) -> Any:
        for index, value in enumerate(op.operands):
            if value in mapping:
                op.operands[index] = mapping[value]
        return ir.WalkResult.ADVANCE

    copy.operation.walk(visit)


def _loop(scan: _Scan) -> list[Any]:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    with ir.InsertionPoint(scan.op), scan.op.location:
        begin = [_number(0), *(_zeros(kind) for kind in scan.stacked), *scan.inits]
        types = [value.type for value in begin]
        loop = stablehlo.WhileOp(types, begin)
        condition = loop.regions[0].blocks.append(*types)
        body = loop.regions[1].blocks.append(*types)
        with ir.InsertionPoint(condition):
            direction = stablehlo.ComparisonDirectionAttr.get("LT")
            going = stablehlo.compare(condition.arguments[0], _number(scan.rows), direction)
            stablehlo.return_([going])
        with ir.InsertionPoint(body):
            stablehlo.return_(_pass(scan, list(body.arguments)))
        return list(loop.results)[1:]


def _pass(scan: _Scan, state: Sequence[Any]) -> list[Any]:
    """Write one pass of the loop: from count, outputs so far and carries to the next ones."""
    from jaxlib.mlir.dialects import stablehlo

    count, so_far = state[0], state[1 : 1 + len(scan.stacked)]
    last = _number(scan.rows - 1)
    index = stablehlo.subtract(last, count) if scan.reverse else count
    taken = [_row_at(scan, value, index) for value in scan.inputs]
    out, carries = _step(scan, [*taken, *state[1 + len(scan.stacked) :]])
    outputs = [
        stablehlo.dynamic_update_slice(all_, _as_slab(scan, row), _starts(scan, all_, index))
        for all_, row in zip(so_far, out, strict=True)
    ]
    return [stablehlo.add(count, _number(1)), *outputs, *carries]


def _row_at(scan: _Scan, value: Any, index: Any) -> Any:
    from jaxlib.mlir.dialects import stablehlo

    sizes = list(value.type.shape)
    sizes[scan.dimension] = 1
    slab = stablehlo.dynamic_slice(value, _starts(scan, value, index), sizes)
    return stablehlo.reshape(_without(scan, value.type), slab)


def _starts(scan: _Scan, value: Any, index: Any) -> list[Any]:
    zero = _number(0)
    rank = len(value.type.shape)
    return [index if axis == scan.dimension else zero for axis in range(rank)]


def _as_slab(scan: _Scan, row: Any) -> Any:
    """Return a row with the dimension back in, of length 1."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    shape = list(row.type.shape)
    shape.insert(scan.dimension, 1)
    return stablehlo.reshape(ir.RankedTensorType.get(shape, row.type.element_type), row)


def _without(scan: _Scan, kind: Any) -> Any:
    from jaxlib.mlir import ir

    shape = list(kind.shape)
    del shape[scan.dimension]
    return ir.RankedTensorType.get(shape, kind.element_type)


def _number(value: int) -> Any:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    kind = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
    return stablehlo.constant(
        ir.DenseElementsAttr.get_splat(kind, ir.IntegerAttr.get(kind.element_type, value))
    )


def _zeros(kind: Any) -> Any:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    zero = stablehlo.convert(ir.RankedTensorType.get([], kind.element_type), _number(0))
    return stablehlo.broadcast_in_dim(kind, zero, [])
