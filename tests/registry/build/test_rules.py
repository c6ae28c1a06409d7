"""Support, gradients, host syncs and hazards, ruled on a small table made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from op_registry.build.declarations import Declaration
from op_registry.build.gradients import kept_in_eager, no_gradient
from op_registry.build.host_syncs import host_sync, lowering_evidence
from op_registry.build.observation import UNFIT, Answer, Reply, Run
from op_registry.build.support import Rules, fallback_of
from op_registry.schema import EndsIn, Fallback, Resolution, Support

pytest.importorskip("torch")

from op_registry.build.assemble import Sources, assemble
from op_registry.build.table import Entry

if TYPE_CHECKING:
    from collections.abc import Mapping

RAN = Reply(answer=Answer.RAN)
REFUSED = Reply(answer=Answer.NOT_IMPLEMENTED, message="operator 'aten::gap' is not implemented")
SYNCED = Reply(answer=Answer.HOST_SYNC, message="cannot record EventSnapshot")


def entry(
    name: str,
    privateuse1: Resolution = Resolution.KERNEL,
    *,
    autograd: Resolution = Resolution.AUTOGRAD_KERNEL,
    composites: frozenset[Resolution] = frozenset(),
    cpu: bool = False,
    tags: frozenset[str] = frozenset(),
) -> Entry:
    """Return a line of the table."""
    return Entry(
        op=f"aten.{name}",
        schema=f"aten::{name}(Tensor self) -> Tensor",
        privateuse1=privateuse1,
        autograd=autograd,
        autocast=Resolution.FALLTHROUGH,
        place="kernels.cc:1",
        composites=composites,
        cpu_kernel=cpu,
        tags=tags,
    )


TABLE = {
    e.op: e
    for e in (
        entry("kernel.default"),
        entry("gap.default", Resolution.FALLBACK, cpu=True),
        entry("gap.cuda_only", Resolution.FALLBACK),
        entry("composite.default", Resolution.COMPOSITE_EXPLICIT),
        entry("implicit.default", Resolution.COMPOSITE_IMPLICIT),
        entry("structured.default", Resolution.COMPOSITE_EXPLICIT_NON_FUNCTIONAL),
        entry("form.out", Resolution.COMPOSITE_EXPLICIT),
    )
}


def rules(runs: Mapping[str, list[Run]] | None = None, **declared: Declaration) -> Rules:
    """Return the rules over TABLE."""
    named = {f"aten.{name.replace('__', '.')}": value for name, value in declared.items()}
    return Rules(TABLE, named, runs or {})


def run(error: str = "", **leaves: Reply) -> Run:
    """Return a run that reached ``leaves``."""
    return Run(
        leaves={f"aten.{name}.default": reply for name, reply in leaves.items()}, error=error
    )


def test_kernel_is_native() -> None:
    """A registered kernel is support."""
    assert rules().rule("aten.kernel.default").support is Support.NATIVE


def test_missing_carries_the_wheels_words() -> None:
    """The reason quotes what lowering raised, and says where it comes from when nothing ran."""
    seen = rules({"aten.gap.default": [run(gap=REFUSED)]}).rule("aten.gap.default")
    assert (seen.support, REFUSED.message in seen.reason) == (Support.MISSING, True)
    assert "fallback that raises" in rules().rule("aten.gap.default").reason


def test_fallback_that_another_key_serves_is_unknown() -> None:
    """An op that ran although PrivateUse1 has no kernel is not called missing."""
    found = rules({"aten.gap.default": [run(gap=RAN)]}).rule("aten.gap.default")
    assert found.support is Support.UNKNOWN


@pytest.mark.parametrize(
    ("delegate", "support"),
    [("aten.kernel.default", Support.NATIVE), ("aten.gap.default", Support.MISSING)],
)
def test_structured_follows_its_delegate(delegate: str, support: Support) -> None:
    """A structured op is what its ``out`` form is."""
    found = rules(structured__default=Declaration(structured_delegate=delegate)).rule(
        "aten.structured.default"
    )
    assert (found.support, found.ends_in, found.how) == (support, (delegate,), EndsIn.STRUCTURED)


def test_composite_that_ends_in_kernels() -> None:
    """A composite is native when all that its samples reached has kernels."""
    found = rules({"aten.composite.default": [run(kernel=RAN)]}).rule("aten.composite.default")
    assert (found.support, found.ends_in) == (Support.NATIVE, ("aten.kernel.default",))
    assert found.how is EndsIn.OBSERVED


def test_composite_that_always_meets_a_gap() -> None:
    """A composite is missing when every sample met a gap, even if it then failed."""
    runs = [run(kernel=RAN, gap=REFUSED), run("and then this", gap=REFUSED)]
    found = rules({"aten.composite.default": runs}).rule("aten.composite.default")
    assert found.support is Support.MISSING
    assert "aten.gap.default" in found.reason
    only_failed = rules({"aten.composite.default": runs[1:]}).rule("aten.composite.default")
    assert only_failed.support is Support.MISSING


def test_composite_that_sometimes_meets_a_gap_is_unknown() -> None:
    """Where the arguments decide, the op alone has no verdict."""
    runs = [run(kernel=RAN), run(gap=REFUSED)]
    found = rules({"aten.composite.default": runs}).rule("aten.composite.default")
    assert (found.support, "depends on the arguments" in found.reason) == (Support.UNKNOWN, True)


def test_leaf_outside_the_table_is_a_gap() -> None:
    """An op that the table does not list is never taken for a kernel."""
    found = rules({"aten.composite.default": [run(elsewhere=RAN)]}).rule("aten.composite.default")
    assert found.support is Support.MISSING


def test_call_without_ops_is_native() -> None:
    """A composite that only makes views needs no kernel."""
    found = rules({"aten.composite.default": [run()]}).rule("aten.composite.default")
    assert (found.support, found.ends_in) == (Support.NATIVE, ())


def test_composite_that_refuses_the_device_itself() -> None:
    """PyTorch's own refusal of a device is as good as a missing kernel."""
    runs = [run("mode only supports CPU and CUDA device type, got: tpu")]
    found = rules({"aten.composite.default": runs}).rule("aten.composite.default")
    assert found.support is Support.MISSING


@pytest.mark.parametrize("op", ["aten.composite.default", "aten.implicit.default"])
@pytest.mark.parametrize("runs", [[], [run(UNFIT)], [run("bad sample", kernel=RAN)]])
def test_unobserved_is_unknown(op: str, runs: list[Run]) -> None:
    """Without a sample that ran to its end there is no verdict, and the reason says why."""
    found = rules({op: runs}).rule(op)
    assert found.support is Support.UNKNOWN
    assert found.ends_in is None
    assert not runs or runs[0].error in found.reason


def test_generated_form_follows_its_source() -> None:
    """What torchgen generated runs as the op it calls, unless a sample showed something."""
    form = Declaration(generated_from="aten.gap.default")
    found = rules(form__out=form).rule("aten.form.out")
    assert (found.support, found.how) == (Support.MISSING, EndsIn.GENERATED)
    observed = rules({"aten.form.out": [run(kernel=RAN)]}, form__out=form).rule("aten.form.out")
    assert observed.support is Support.NATIVE


def test_fallback_takes_the_cpu_kernel_of_what_is_missing() -> None:
    """The CPU serves a composite only when it has a kernel for every gap in it."""
    judge = rules({"aten.composite.default": [run(kernel=RAN, gap=REFUSED)]})
    composite = judge.rule("aten.composite.default")
    assert fallback_of(composite, "aten.composite.default", TABLE) is Fallback.CPU_IF_ENABLED
    cuda = judge.rule("aten.gap.cuda_only")
    assert fallback_of(cuda, "aten.gap.cuda_only", TABLE) is Fallback.NEVER
    kernel = judge.rule("aten.kernel.default")
    assert fallback_of(kernel, "aten.kernel.default", TABLE) is None


IMPLICIT = frozenset({Resolution.COMPOSITE_IMPLICIT})


@pytest.mark.parametrize(
    ("changed", "formula", "lost"),
    [
        ({}, False, True),
        ({}, True, False),
        ({"autograd": Resolution.KERNEL}, False, False),
        ({"composites": frozenset()}, False, False),
        ({"privateuse1": Resolution.COMPOSITE_IMPLICIT}, False, False),
    ],
)
def test_no_gradient_needs_every_condition(
    changed: dict[str, object], formula: bool, lost: bool
) -> None:
    """Kernel over a composite, no autograd kernel, no formula: only together do they lose it."""
    fields = {"autograd": Resolution.FALLTHROUGH, "composites": IMPLICIT} | changed
    found = no_gradient(entry("pool.default", **fields), has_formula=formula)  # type: ignore[arg-type]
    assert (found is not None) == lost


def test_backward_op_that_loses_gradients_says_when_it_matters() -> None:
    """For a backward op the hazard is about double backward."""
    line = entry("pool_backward.default", autograd=Resolution.FALLTHROUGH, composites=IMPLICIT)
    assert "double backward" in str(no_gradient(line, has_formula=False))


def test_what_eager_keeps_is_lost_only_when_traced() -> None:
    """Samples decide whether eager keeps the gradient; one that does not, or none, means lost."""
    line = entry("cell.default", autograd=Resolution.FALLTHROUGH, composites=IMPLICIT)
    kept, lost, silent = (Run(leaves={}, detached=seen) for seen in (False, True, None))
    assert kept_in_eager([kept, silent])
    assert not any(map(kept_in_eager, ([kept, lost], [silent], [])))
    words = no_gradient(line, has_formula=False, kept_in_eager=True)
    assert "torch.compile" in str(words)
    assert words != no_gradient(line, has_formula=False)


def test_host_sync_tells_always_from_sometimes() -> None:
    """The hazard names the piece that reads, and whether every sample made it."""
    assert host_sync([run(kernel=RAN)]) is None
    assert "some samples" in str(host_sync([run(kernel=RAN), run(item=SYNCED)]))
    always = str(host_sync([run(item=SYNCED)]))
    assert "some samples" not in always
    assert "aten.item.default" in always
    evidence = lowering_evidence([run(item=SYNCED), run(item=SYNCED, kernel=RAN)])
    assert [e.detail for e in evidence] == [
        "lowering aten.item.default raised: cannot record EventSnapshot"
    ]


def test_record_joins_all_sources() -> None:
    """Declared kernels, tags, runs and the table end up in one record."""
    table = {
        "aten.nonzero.default": entry("nonzero.default", tags=frozenset({"dynamic_output_shape"})),
        "aten.index.Tensor": entry("index.Tensor", tags=frozenset({"dynamic_output_shape"})),
    }
    declared = {"aten.nonzero.default": Declaration(keys={"CPU", "CUDA"})}
    runs = {"aten.nonzero.default": [run(nonzero=SYNCED)]}
    formulas = frozenset({"aten.nonzero.default"})
    found = assemble(
        Sources(table=table, declared=declared, formulas=formulas, runs=runs, policies={})
    )
    record = found["aten.nonzero.default"]
    assert (record.cpu_kernel, record.cuda_kernel, record.has_derivative) == (True, True, True)
    assert sorted(record.hazards) == ["dynamic_shape", "host_sync"]
    assert record.evidence[0].detail == "PrivateUse1 resolves to kernel (kernels.cc:1)"
    # Tagged for boolean masks only, which the table cannot see.
    assert found["aten.index.Tensor"].hazards == {}
