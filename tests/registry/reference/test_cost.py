"""What kernels cost, beside native ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from op_registry.loader import load
from op_registry.reference import cost as module
from op_registry.reference.checks.lowering import Toolchain
from op_registry.reference.cost import Cost, Row, cost_of, main, measure, page
from op_registry.reference.declare import Declaration, declared
from op_registry.reference.kinds import LIKE, like
from op_registry.schema import Support
from op_registry.toolchain.answers import Compilation, Memory, Outcome
from tests.support.wheel import PYTHON, needs_wheel

if TYPE_CHECKING:
    from pathlib import Path


class Compiler:
    """Stands for the toolchain: programs that move so many bytes for 100 of data, by op."""

    def __init__(self, moved: dict[str, float]) -> None:
        self.moved = moved
        self.asked: list[str] = []

    def largest(self, op: str, dtype: str) -> str | None:
        """Lower at float32 what there is."""
        self.asked.append(op)
        return op if op in self.moved and dtype == "float32" else None

    def compilation(self, path: str, chip: str) -> Compilation:
        """Answer as the compiler does."""
        assert chip == "v6e"
        memory = Memory(arguments=60, outputs=40, temporaries=0, aliases=0, code=0)
        moved = self.moved[path]
        return Compilation(outcome=Outcome.OK, memory=memory, flops=7.0, bytes_accessed=moved)


def mish(self: Any) -> Any:
    """Stand for a kernel in a file that has a native op of its kind."""
    return self


def kernel(op: str) -> Declaration:
    """Return a declaration whose file is ``activations``."""
    mish.__module__ = "op_registry.reference.kernels.activations"
    return Declaration(op=op, function=mish, source="definition", accuracy="")


def test_a_kernel_stands_beside_a_native_op() -> None:
    """Ratios are of passes over the data; a native op is compiled once, outliers are marked."""
    compiler: Any = Compiler({"aten.gelu.default": 100.0, "aten.a.x": 150.0, "aten.b.x": 900.0})
    kernels = [kernel(op) for op in ("aten.a.x", "aten.b.x", "aten.gone.x")]
    rows = measure(kernels, compiler)

    assert [row.ratio for row in rows] == [1.5, 9.0, None]
    assert [row.marked for row in rows] == [False, True, False]
    assert compiler.asked.count("aten.gelu.default") == 1
    text = page(rows, "torch 2.13")
    assert "| `aten.b.x` | float32 | 7 | 900 | 0 | 9.0 | `aten.gelu.default` |" in text
    assert text.index("`aten.b.x`") < text.index("`aten.a.x`")
    assert "| `aten.gone.x` | nothing compiled |" in text


def test_passes() -> None:
    """Bytes moved for each byte of inputs and outputs; without a native op there is no ratio."""
    cost = Cost(op="a", dtype="float32", flops=1, bytes_accessed=30, data=10, instructions=2)
    assert cost.passes == 3
    assert Row(op="a", algorithm="", kernel=cost, native=None).ratio is None


def test_what_kernels_stand_beside() -> None:
    """Every file of kernels that is named exists, and every op to compare with is native."""
    ops = load("0.2.0+torch2.13").ops
    files = {found.path.split(".")[-2] for found in declared().values()}
    assert set(LIKE) - files == set()
    assert {op for op in LIKE.values() if ops[op].support is not Support.NATIVE} == set()
    assert like("op_registry.reference.kernels.activations.mish") == "aten.gelu.default"
    assert like("op_registry.reference.kernels.nothing.like_it") == ""


def test_a_wrong_name(capsys: pytest.CaptureFixture[str]) -> None:
    """A pattern without a kernel is an error."""
    assert main(["nothing_like_it"]) == 2
    assert "no reference kernel is called" in capsys.readouterr().err


def test_the_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit code says whether every kernel compiled."""
    out = tmp_path / "cost.md"
    monkeypatch.setattr(module, "measure", lambda *_: [])
    assert main(["trace", "--out", str(out)]) == 0
    assert out.read_text(encoding="utf-8").startswith("# What reference kernels cost")
    lost = Row(op="aten.trace.default", algorithm="", kernel=None, native=None)
    monkeypatch.setattr(module, "measure", lambda *_: [lost])
    assert main(["trace", "--out", str(out)]) == 1


@needs_wheel
def test_the_real_compiler(tmp_path: Path) -> None:
    """An elementwise kernel and its native op both go over their data once."""
    assert PYTHON is not None
    with Toolchain(PYTHON, str(tmp_path)) as toolchain:
        costs = [cost_of(op, toolchain) for op in ("aten.mish.default", "aten.gelu.default")]
    for found in costs:
        assert found is not None
        assert found.instructions > 0
        assert found.passes == pytest.approx(1, rel=0.2)
