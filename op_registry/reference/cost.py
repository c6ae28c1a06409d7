"""What reference kernels cost: ``python -m op_registry.reference.cost --python VENV/bin/python``.

Each kernel's largest sample is lowered through torch_tpu and compiled by libtpu for one chip, and
so is one of a native op that does alike work. Samples differ, so ratios are compared: how often the
program goes over its inputs and outputs, and how many flops it takes for each of their elements.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from op_registry.loader import load
from op_registry.reference.check import choose, lowers
from op_registry.reference.checks.lowering import Toolchain
from op_registry.reference.declare import declared
from op_registry.reference.kinds import like
from op_registry.toolchain.answers import Compilation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from op_registry.reference.declare import Declaration

_DTYPES = ("float32", "int64", "complex64", "int8", "uint8", "int32", "bool", "bfloat16")
"""Tried in this order until one lowers."""
_CHIP = "v6e"
_MOST_PASSES = 4.0
"""Times the native op's passes, and its bytes, above which a kernel is marked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What the compiler says of one program."""

    op: str
    dtype: str
    flops: float
    """As the compiler counts them; 0 where it does not."""
    bytes_accessed: float
    """Between HBM and on-chip memory."""
    data: int
    """Bytes of inputs and outputs, as they lie in memory."""
    instructions: int
    """Of the optimised program."""

    @property
    def passes(self) -> float:
        """Times the program goes over as much memory as inputs and outputs take."""
        return self.bytes_accessed / max(1, self.data)


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One kernel beside a native op."""

    op: str
    algorithm: str
    kernel: Cost | None
    """None when nothing lowered and compiled."""
    native: Cost | None

    @property
    def ratio(self) -> float | None:
        """The kernel's passes for one of the native op's."""
        if self.kernel is None or self.native is None or not self.native.passes:
            return None
        return self.kernel.passes / self.native.passes

    @property
    def marked(self) -> bool:
        """Whether the kernel goes over its data much more often, and moves much more in all."""
        if self.kernel is None or self.native is None or self.ratio is None:
            return False
        moved = self.kernel.bytes_accessed / self.native.bytes_accessed
        return min(self.ratio, moved) > _MOST_PASSES


def measure(kernels: Iterable[Declaration], toolchain: Toolchain) -> list[Row]:
    """Return a row for each kernel; each native op is compiled once."""
    known: dict[str, Cost | None] = {"": None}
    rows = []
    for declaration in kernels:
        native = like(declaration.path)
        if native not in known:
            known[native] = cost_of(native, toolchain)
        kernel = cost_of(declaration.op, toolchain)
        rows.append(
            Row(
                op=declaration.op,
                algorithm=declaration.source,
                kernel=kernel,
                native=known[native],
            )
        )
    return rows


def cost_of(op: str, toolchain: Toolchain) -> Cost | None:
    """Compile the largest sample of ``op`` at the first dtype that lowers; None if none does."""
    for dtype in _DTYPES:
        path = toolchain.largest(op, dtype)
        if path is None:
            continue
        found = toolchain.compilation(path, _CHIP)
        if isinstance(found, Compilation) and found.memory is not None:
            return Cost(
                op=op,
                dtype=dtype,
                flops=found.flops or 0.0,
                bytes_accessed=found.bytes_accessed or 0.0,
                data=found.memory.arguments + found.memory.outputs,
                instructions=found.instructions or 0,
            )
    return None


def page(rows: Sequence[Row], versions: str) -> str:
    """Return the page in Markdown: kernels that stand out first, then by name."""
    ordered = sorted(rows, key=lambda row: (not row.marked, row.op))
    marked = sum(row.marked for row in rows)
    lines = "\n".join(_line(row) for row in ordered)
    return f"""# What reference kernels cost

{len(rows)} kernels for ops that torch-tpu lacks, each lowered on the largest of torch's own test
inputs and compiled by libtpu for {_CHIP}, beside a native op that does alike work. Test inputs are
small, so the numbers compare programs, not speed. Passes: bytes that the program moves for each
byte of its inputs and outputs, as they lie in memory. {marked} kernels take more than
{_MOST_PASSES:g} times the passes of their native op and move more than {_MOST_PASSES:g} times its
bytes; they stand first, and the column on the algorithm says what they have to do.

Made with {versions} by `python -m op_registry.reference.cost`.

| op | dtype | flops | bytes | instructions | passes | native op | flops | bytes | instructions |\
 passes | ratio | algorithm |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
{lines}
"""


def _line(row: Row) -> str:
    kernel, native = _numbers(row.kernel), _numbers(row.native)
    dtype = row.kernel.dtype if row.kernel else "nothing compiled"
    ratio = "" if row.ratio is None else f"{row.ratio:.1f}{' !' if row.marked else ''}"
    name = f"`{row.native.op}`" if row.native else ""
    return f"| `{row.op}` | {dtype} | {kernel} | {name} | {native} | {ratio} | {row.algorithm} |"


def _numbers(cost: Cost | None) -> str:
    if cost is None:
        return " | | | "
    parts = (f"{cost.flops:,.0f}", f"{cost.bytes_accessed:,.0f}", f"{cost.instructions:,}")
    return " | ".join((*parts, f"{cost.passes:.1f}"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; return 1 when a kernel did not compile, 2 for a wrong call."""
    options = _parser().parse_args(arguments)
    snapshot = load(options.registry)
    try:
        chosen = [d for d in choose(options.op, declared()) if lowers(d, snapshot)]
    except ValueError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    with tempfile.TemporaryDirectory() as folder, Toolchain(options.python, folder) as toolchain:
        rows = measure(chosen, toolchain)
    versions = ", ".join(f"{name} {version}" for name, version in sorted(snapshot.versions.items()))
    text = page(rows, versions)
    if options.out:
        Path(options.out).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return int(any(row.kernel is None for row in rows))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m op_registry.reference.cost")
    parser.description = "Compile reference kernels and native ops, and compare what they cost."
    parser.add_argument("op", nargs="*", help="op, file of kernels, or pattern; default: all")
    parser.add_argument("--python", default=sys.executable, help="interpreter with torch-tpu, jax")
    parser.add_argument("--registry", help="snapshot that says which ops are native")
    parser.add_argument("--out", help="file to write; default: standard output")
    return parser


if __name__ == "__main__":
    sys.exit(main())
