"""Programs of the user's own under Dynamo: graphs, breaks with their lines, recompilations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tpu_audit.sources.own import resolve_factory
from tpu_audit.trace.compiling.runner import run_compile
from tpu_audit.types.compiled import BreakKind, Change, CompileTrace
from tpu_audit.types.trace import TraceSettings

if TYPE_CHECKING:
    from op_registry.schema import Snapshot

FILE = Path(__file__).parents[2] / "data" / "own" / "compiled.py"
LINES = FILE.read_text(encoding="utf-8").splitlines()


Compile = Callable[[str], CompileTrace]


@pytest.fixture(scope="module", name="compiled")
def _compiled(snapshot: Snapshot) -> Compile:
    """Compile one of the programs."""

    def compiled(name: str) -> CompileTrace:
        spec = resolve_factory(name, str(FILE), name)
        (trace,) = run_compile(spec, TraceSettings(), snapshot)
        return trace

    return compiled


def test_a_clean_module_is_one_graph(compiled: Compile) -> None:
    """Nothing in the way: one graph, run once, the same for the same inputs again."""
    trace = compiled("clean")

    assert (trace.graphs, trace.launches, trace.breaks) == (1, 1, ())
    assert [(r.change, r.anew) for r in trace.recompiles] == [(Change.NOTHING, False)]


def test_graphs_call_what_the_backend_gets(compiled: Compile) -> None:
    """The calls of the graph are those that torch_tpu's kernels would get, with their places."""
    uses = {use.op: use for use in compiled("clean").ops}

    assert list(uses) == ["aten.linear.default", "aten.relu.default", "aten.add.Tensor"]
    linear = uses["aten.linear.default"]
    assert (linear.modules, linear.inputs[0].device) == (("",), "tpu")
    assert "F.linear(" in LINES[linear.sources[0].line - 1]


def test_what_torch_tpu_replaces_in_python_is_followed(compiled: Compile) -> None:
    """Its max_pool wrappers are traced through, to the op of its own."""
    trace = compiled("pools")

    assert (trace.graphs, trace.breaks) == (1, ())
    assert "tpu._max_pool1d.default" in {use.op for use in trace.ops}


def test_kernels_of_the_device_are_not_compiled(compiled: Compile) -> None:
    """Out of graphs, calls run through the device's own Python: no graphs of those.

    The function with the loop is left to Python; the one that it calls twice is a graph.
    """
    trace = compiled("loop")

    assert (trace.graphs, trace.launches) == (1, 2)
    assert [use.op for use in trace.ops] == ["aten.linear.default"]
    assert [found.eager for found in trace.breaks] == [True]


@pytest.mark.parametrize(
    ("name", "kind", "word"),
    [
        ("item", BreakKind.DATA, "item()"),
        ("known", BreakKind.DATA, "item()"),
        ("shape", BreakKind.DATA, "Dynamic shape"),
        ("prints", BreakKind.PYTHON, "builtin"),
    ],
)
def test_a_break_has_its_line_and_kind(
    name: str, kind: BreakKind, word: str, compiled: Compile
) -> None:
    """One obstacle, two graphs around it; a value that the tracer knows is one as well."""
    trace = compiled(name)

    assert (trace.graphs, trace.launches) == (2, 2)
    (found,) = trace.breaks
    assert (found.kind, found.eager, found.count, found.module) == (kind, False, 1, "")
    assert word in found.reason
    assert found.source is not None
    assert (found.source.path, "here" in LINES[found.source.line - 1]) == ("compiled.py", True)


def test_layers_share_graphs_and_the_loop_is_left_to_python(compiled: Compile) -> None:
    """Two layers run the same two graphs; the break names the layer that was compiled."""
    trace = compiled("outer")

    assert (trace.graphs, trace.launches) == (2, 4)
    (found,) = trace.breaks
    assert (found.module, found.eager, found.count) == ("layers.0", False, 2)


def test_the_recompile_limit_is_told(compiled: Compile) -> None:
    """A function compiled for each of ten layers is given up on after eight."""
    limits = [found for found in compiled("many").breaks if found.kind is BreakKind.LIMIT]

    assert limits
    assert limits[0].eager
    assert "number" in limits[0].detail


@pytest.mark.parametrize(
    ("name", "guard"), [("growing", "size mismatch at index 0"), ("counting", "calls")]
)
def test_what_changes_in_each_call_compiles_in_each_call(
    name: str, guard: str, compiled: Compile
) -> None:
    """A tensor that grows, or a counter, fails a guard in every call."""
    (again,) = compiled(name).recompiles

    assert (again.change, again.anew) == (Change.NOTHING, True)
    assert guard in (again.guard or "")


@pytest.mark.parametrize(
    ("name", "guard"),
    [
        ("item", "the interrupted expression == 1.0"),
        ("shape", "tensor 'the interrupted expression' size mismatch at index 0."),
    ],
)
def test_numbers_that_are_read_are_compiled_in(name: str, guard: str, compiled: Compile) -> None:
    """Another value, or another count of rows, fails a guard of the graph behind the break."""
    again = {found.change: found for found in compiled(name).recompiles}

    assert not again[Change.NOTHING].anew
    assert again[Change.VALUES].anew
    assert (again[Change.VALUES].guard or "").startswith(guard)


def test_numbers_that_follow_from_the_inputs_do_not_change(compiled: Compile) -> None:
    """With the same inputs a known value is what it was: nothing to try."""
    assert [found.change for found in compiled("known").recompiles] == [Change.NOTHING]


def test_a_buffer_of_fixed_shape_compiles_once(compiled: Compile) -> None:
    """The same memory kept in place needs no second compilation."""
    (again,) = compiled("static").recompiles

    assert (again.change, again.anew, again.guard) == (Change.NOTHING, False, None)
