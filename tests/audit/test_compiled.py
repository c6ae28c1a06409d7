"""What torch.compile made of a phase, judged beside the eager trace of the same."""

from __future__ import annotations

from typing import Any

import pytest

from op_registry.schema import Support
from tests.support.calls import LINE, record, snapshot, tensor, use
from tpu_audit.audit.call import Platform
from tpu_audit.audit.compiled import CompileAudit, audit_compiled
from tpu_audit.types.compiled import BreakKind, Change, CompileTrace, GraphBreak, Recompile
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.report import Severity, Verdict
from tpu_audit.types.trace import OpUse, Trace, TraceSettings

REGISTRY = snapshot(
    record("aten.add_.Tensor"),
    record("aten.add.Tensor"),
    record("aten.mish.default", Support.MISSING),
)
SPEC = ModelSpec(target="made", id="org/made", revision=None, config_source="local", config={})
GUARD = "tensor 'x' size mismatch at index 1. expected 16, actual 8"


def audit(*eager: OpUse, **compiled: Any) -> CompileAudit:
    """Judge a made-up compilation."""
    made = CompileTrace(settings=TraceSettings(), **{"graphs": 1, "launches": 1, **compiled})
    trace = Trace(settings=TraceSettings(), architecture="Made", parameters=0, ops=eager)
    return audit_compiled(made, trace, REGISTRY, SPEC, Platform())


def stop(**fields: Any) -> GraphBreak:
    """Return a break."""
    values: dict[str, Any] = {
        "reason": "Data-dependent branching",
        "detail": "Detected data-dependent branching",
        "kind": BreakKind.DATA,
        "source": LINE,
        "module": "layers.0",
        "count": 2,
        "eager": False,
    }
    return GraphBreak(**{**values, **fields})


def test_one_graph_is_ready() -> None:
    """Nothing to say of one graph that runs what the eager phase runs."""
    call = use("aten.add.Tensor", tensor(4))
    found = audit(call, ops=(call,))

    assert (found.rows, found.findings, found.verdict) == ((), (), Verdict.READY)


def test_only_what_eager_does_not_call_is_judged() -> None:
    """A functional form of an in-place call is a row of the compilation; a shared op is not."""
    found = audit(
        use("aten.add_.Tensor", tensor(4)),
        ops=(use("aten.add_.Tensor", tensor(8)), use("aten.add.Tensor", tensor(4))),
    )

    assert [row.op for row in found.rows] == ["aten.add.Tensor"]


def test_a_missing_op_of_the_graph_blocks_the_compiled_path() -> None:
    """It is an error of its own code, with the places of the calls."""
    found = audit(ops=(use("aten.mish.default", tensor(4), modules=("a",)),))

    (finding,) = found.findings
    assert (finding.code, finding.severity, finding.op) == (
        "TPA933",
        Severity.ERROR,
        "aten.mish.default",
    )
    assert (finding.modules, finding.sources) == (("a",), (LINE,))
    assert found.verdict is Verdict.BLOCKED


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (BreakKind.DATA, "torch.where"),
        (BreakKind.PYTHON, "fullgraph=True"),
        (BreakKind.LIMIT, "recompile_limit"),
    ],
)
def test_a_break_is_a_warning_with_its_place(kind: BreakKind, words: str) -> None:
    """Reason, explanation, line, module; what to do depends on the kind."""
    found = audit(graphs=2, breaks=(stop(kind=kind),))

    (finding,) = found.findings
    assert (finding.code, finding.severity) == ("TPA930", Severity.WARNING)
    assert finding.message == (
        "torch.compile breaks the graph: Data-dependent branching. "
        "Detected data-dependent branching."
    )
    assert (finding.location.line, finding.location.module, finding.count) == (7, "layers.0", 2)
    assert words in finding.fix
    assert found.verdict is Verdict.READY_WITH_WARNINGS


def test_a_function_left_to_python_is_said() -> None:
    """In a loop nothing of the function is compiled."""
    (finding,) = audit(breaks=(stop(eager=True, source=None, module=None),)).findings

    assert finding.message.endswith("The whole function is left to Python, op by op.")
    assert (finding.location.path, finding.modules, finding.sources) == (None, (), ())


def test_sizes_that_compile_anew_are_information() -> None:
    """Every model has them; what does not compile anew is not told."""
    found = audit(
        recompiles=(
            Recompile(change=Change.NOTHING, anew=False),
            Recompile(change=Change.SEQ_LEN, anew=True, guard=GUARD, was=16, now=8),
            Recompile(change=Change.BATCH, anew=False, was=1, now=2),
        )
    )

    (finding,) = found.findings
    assert (finding.code, finding.severity) == ("TPA932", Severity.INFO)
    assert finding.message == f"another sequence length compiles anew (16 to 8): {GUARD}"
    assert found.verdict is Verdict.READY


def test_numbers_that_are_read_are_a_warning() -> None:
    """They are constants of the graph that follows; the advice is not to read them."""
    read = Recompile(change=Change.VALUES, anew=True, guard="x == 1")
    (finding,) = audit(recompiles=(read,)).findings

    assert (finding.code, finding.severity) == ("TPA931", Severity.WARNING)
    assert finding.message == "each new number that is read from the TPU compiles anew: x == 1"
    assert finding.fix.startswith("Do not read the number")


def test_the_same_inputs_that_compile_anew_are_a_warning() -> None:
    """Something changes in every call."""
    (finding,) = audit(recompiles=(Recompile(change=Change.NOTHING, anew=True),)).findings

    assert (finding.code, finding.severity) == ("TPA931", Severity.WARNING)
    assert finding.message == "the same inputs again compile anew"


@pytest.mark.parametrize(
    ("static", "words"),
    [
        (Recompile(change=Change.TOKEN_STATIC, anew=False), 'cache_implementation="static"'),
        (Recompile(change=Change.TOKEN_STATIC, anew=True, guard="x"), "does not help: x."),
        (None, "preallocated buffer"),
    ],
)
def test_a_static_cache_is_advised_where_it_was_seen_to_help(
    static: Recompile | None, words: str
) -> None:
    """The advice follows what was tried."""
    token = Recompile(change=Change.TOKEN, anew=True, guard=GUARD)
    (finding,) = audit(recompiles=(token, static) if static else (token,)).findings

    assert (finding.code, finding.message) == (
        "TPA931",
        f"each decoded token compiles anew: {GUARD}",
    )
    assert words in finding.fix
