"""Reference kernels: named as the way out, and judged as if installed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from op_registry.loader import load
from op_registry.reference.declare import declared
from op_registry.schema import EndsIn, EvidenceKind, Hazard, OpRecord, Support
from tests.support.calls import audit, codes, composite, finding, record, snapshot, tensor, use
from tpu_audit.audit import reference
from tpu_audit.audit.call import Platform
from tpu_audit.audit.declared import declared_kernels
from tpu_audit.audit.reference import INSTALL, kernel_of
from tpu_audit.audit.support import judge
from tpu_audit.types.report import Severity, Verdict

if TYPE_CHECKING:
    import pytest

KERNELS = "op_registry.reference.kernels."
INSTALLED = Platform(reference_kernels=True)
MISH = record(
    "aten.mish.default",
    Support.MISSING,
    reference=f"{KERNELS}mish.mish",
    reference_checks={"bfloat16": "12/12"},
)


def loses(**fields: Any) -> OpRecord:
    """Return the record of an op whose kernel loses the gradient."""
    return record("aten.avg_pool1d.default", hazards={Hazard.NO_GRADIENT: "detached"}, **fields)


POOL = loses(composite_implicit=True)


def test_only_own_kernels_for_ops_that_lack_one() -> None:
    """Torch's own references are not installed, and nothing replaces a working kernel."""
    torchs = record("aten.a.default", Support.MISSING, reference="torch._refs.a")
    works = record("aten.b.default", reference=f"{KERNELS}b.b")
    registry = snapshot(MISH, torchs, works)

    assert kernel_of(MISH.op, registry) == f"{KERNELS}mish.mish"
    assert {kernel_of(name, registry) for name in (torchs.op, works.op, "aten.gone.x")} == {None}


def test_an_op_the_registry_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """An op of another library takes its kernel from the source that declares it."""
    path = f"{KERNELS}boxes.nms"
    monkeypatch.setattr(reference, "declared_kernels", lambda: {"torchvision.nms.default": path})
    call = use("torchvision.nms.default", tensor(4))
    without = audit(call, registry=snapshot(MISH))
    assert (without.verdict, path in finding("TPA903", without).fix) == (Verdict.UNKNOWN, True)

    result = audit(call, registry=snapshot(MISH), platform=INSTALLED)
    assert result.verdict is Verdict.READY_WITH_WARNINGS
    assert result.rows[0].evidence[0].detail == path


def test_sources_say_what_the_decorators_do() -> None:
    """Read from source or imported: the same kernels for ops that the registry does not hold."""
    held = load().ops
    imported = {op: found.path for op, found in declared().items() if op not in held}
    read = {op: path for op, path in declared_kernels().items() if op not in held}

    assert read == imported
    assert declared_kernels()["aten.trace.default"] == f"{KERNELS}trace.trace"


def test_the_fix_is_the_line_that_installs_it() -> None:
    """A missing op names its kernel and the exact code, and stays an error."""
    found = finding("TPA901", audit(use(MISH.op, tensor(4)), registry=snapshot(MISH)))

    assert found.severity is Severity.ERROR
    assert f"{KERNELS}mish.mish" in found.fix
    assert f"`{INSTALL}`" in found.fix


def test_judged_as_installed() -> None:
    """A blocked model is ready with warnings once the kernel is there, and says what it needs."""
    call = use(MISH.op, tensor(4))
    assert audit(call, registry=snapshot(MISH)).verdict is Verdict.BLOCKED

    result = audit(call, registry=snapshot(MISH), platform=INSTALLED)
    (row,) = result.rows
    assert result.verdict is Verdict.READY_WITH_WARNINGS
    assert (row.support, row.hazards) == (Support.NATIVE, (Hazard.SLOW_PATH,))
    assert [item.kind for item in row.evidence] == [EvidenceKind.REFERENCE]
    assert row.evidence[0].detail == (
        f"{KERNELS}mish.mish agrees with eager PyTorch in 12/12 samples at bfloat16"
    )
    found = finding("TPA925", result)
    assert found.severity is Severity.WARNING
    assert f"{KERNELS}mish.mish for aten.mish.default" in found.message
    assert INSTALL in found.fix
    assert "TPA901" not in codes(result)


def test_an_in_place_form_runs_on_the_kernel_of_its_op() -> None:
    """The form derived from an own kernel is installed with it, so it blocks no more."""
    form = record("aten.mish_.default", Support.MISSING, reference=f"{KERNELS}activations.mish")
    torchs = replace(form, reference="torch._refs.nn.functional.mish")
    call = use(form.op, tensor(4))
    assert audit(call, registry=snapshot(torchs), platform=INSTALLED).verdict is Verdict.BLOCKED

    result = audit(call, registry=snapshot(form), platform=INSTALLED)
    assert result.verdict is Verdict.READY_WITH_WARNINGS
    assert f"activations.mish for {form.op}" in finding("TPA925", result).message


def test_a_kernel_that_fails_its_check_stands_in_for_nothing() -> None:
    """Wrong at the call's dtype in every sample is no way out at that dtype."""
    wrong = replace(MISH, reference_checks={"bfloat16": "0/12", "float32": "12/12"})
    registry = snapshot(wrong)
    assert judge(use(MISH.op, tensor(4)), registry, INSTALLED).support is Support.MISSING
    right = use(MISH.op, tensor(4, dtype="float32"))
    assert judge(right, registry, INSTALLED).support is Support.NATIVE


def test_a_composite_needs_a_kernel_for_each_missing_piece() -> None:
    """One piece without a kernel keeps the composite missing."""
    ends = ("aten.mish.default", "aten.gone.default")
    outer = composite(
        "aten.wrap.default", Support.MISSING, ends_in=ends, ends_in_how=EndsIn.STRUCTURED
    )
    gone = record("aten.gone.default", Support.MISSING)
    call = use("aten.wrap.default", tensor(4))
    half = audit(call, registry=snapshot(outer, MISH, gone), platform=INSTALLED)
    assert half.verdict is Verdict.BLOCKED

    there = record("aten.gone.default", Support.MISSING, reference=f"{KERNELS}gone.gone")
    whole = audit(call, registry=snapshot(outer, MISH, there), platform=INSTALLED)
    assert whole.verdict is Verdict.READY_WITH_WARNINGS
    assert f"{KERNELS}gone.gone for aten.gone.default" in finding("TPA925", whole).message


def test_a_lost_gradient_names_and_takes_its_kernel() -> None:
    """Training through the pool is an error, and a warning once its pieces are differentiated."""
    call = use(POOL.op, tensor(1, 2, 8), grad_inputs=True)
    without = audit(call, registry=snapshot(POOL), phase="train")
    assert f"`{INSTALL}`" in finding("TPA915", without).fix
    assert without.verdict is Verdict.BLOCKED

    result = audit(call, registry=snapshot(POOL), phase="train", platform=INSTALLED)
    assert codes(result) == {"TPA925"}
    assert "op_registry.reference.keep_gradient" in finding("TPA925", result).message
    assert result.verdict is Verdict.READY_WITH_WARNINGS


def test_inference_needs_no_gradient_kernel() -> None:
    """In a forward pass nothing is lost and nothing has to stand in."""
    result = audit(use(POOL.op, tensor(1, 2, 8)), registry=snapshot(POOL), platform=INSTALLED)
    assert codes(result) == set()
    assert result.verdict is Verdict.READY


def test_without_a_definition_nothing_changes() -> None:
    """A kernel that loses the gradient over no composite has no pieces to go to."""
    plain = loses()
    call = use(plain.op, tensor(1, 2, 8), grad_inputs=True)
    result = audit(call, registry=snapshot(plain), phase="train", platform=INSTALLED)
    assert finding("TPA915", result).severity is Severity.ERROR
