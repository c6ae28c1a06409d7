"""The checks of reference kernels: each tells a kernel that is wrong in its way."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import torch

from op_registry.build.samples.sample import Sample
from op_registry.loader import load
from op_registry.reference.check import check, choose, main, reference_checks, why_not_lowered
from op_registry.reference.checks.compare import difference
from op_registry.reference.checks.gradient import _Substituted, check_gradient, joint
from op_registry.reference.checks.values import check_values
from op_registry.reference.declare import Declaration, declared
from op_registry.reference.derived import Derived, derive
from op_registry.reference.samples import collect

if TYPE_CHECKING:
    from collections.abc import Callable

    from op_registry.reference.checks.outcome import Outcome


def outcomes(op: str, function: Callable[..., Any], **fields: Any) -> dict[str, Outcome]:
    """Check ``function`` as the kernel of ``op`` at float32; return the outcomes by check."""
    made = Declaration(op=op, function=function, source="", accuracy="", **fields)
    samples = collect([made], ["float32"])[op]
    return {o.check: o for o in check(made, samples, {op: made}, load("0.2.0+torch2.13"))}


def failing(op: str, function: Callable[..., Any], **fields: Any) -> dict[str, str]:
    """Return the first message of each check that fails."""
    found = outcomes(op, function, **fields)
    return {name: o.failures[0] for name, o in found.items() if o.failures}


def trace(self: torch.Tensor) -> torch.Tensor:
    """Return what is right."""
    if self.dim() != 2:
        raise RuntimeError("a matrix is expected")
    return self.diagonal().sum()


def test_a_right_kernel_passes() -> None:
    """A right kernel passes every check, and each looked at samples."""
    found = outcomes("aten.trace.default", trace)
    assert {name for name, outcome in found.items() if outcome.tried} == {
        *("values", "nonfinite", "native", "static", "derived", "gradient", "errors")
    }
    assert failing("aten.trace.default", trace) == {}
    assert reference_checks(found.values()) == {"float32": found["values"].counts}


@pytest.mark.parametrize(
    ("function", "checks", "words"),
    [
        (lambda self: trace(self) * 1.01, "values", "differ"),
        (lambda self: trace(self).double(), "values", "dtype torch.float64"),
        (lambda self: trace(self).reshape(1), "values", "shape [1]"),
        (lambda self: trace(self.nan_to_num()), "nonfinite", "nan"),
        (lambda self: self.diagonal().sum() + self.median() * 0, "native", "aten.median.default"),
        (lambda self: torch.tensor(trace(self).item()), "native", "aten.item.default"),
        (lambda self: trace(self) if bool(self.sum() == self.sum()) else self, "static", "DataDep"),
        (lambda self: torch.tensordot(self, torch.eye(*self.shape)), "static", "Device"),
        (lambda self: self.flatten()[:: self.shape[-1] + 1].sum(), "errors", "no error"),
    ],
)
def test_a_wrong_kernel_is_told(function: Callable[..., Any], checks: str, words: str) -> None:
    """Wrong values, dtype, shape, NaN, missing ops, host reads, devices and errors are told."""
    found = failing("aten.trace.default", function)
    assert words in found[checks]


def test_what_is_declared_dynamic_needs_values() -> None:
    """A kernel that no sample stops is not dynamic; a part that reads values is not static."""

    def reads(self: torch.Tensor) -> torch.Tensor:
        return trace(self) if bool(self.sum() == self.sum()) else self

    found = outcomes("aten.trace.default", reads, dynamic="why", static_part=trace)
    assert found["static"].counts == "3/3"
    told = failing("aten.trace.default", trace, dynamic="why")["static"]
    assert "no sample needs values" in told
    told = failing("aten.trace.default", reads, dynamic="why", static_part=reads)["static"]
    assert told.startswith("static part: DataDependent")


def test_why_a_kernel_is_not_lowered() -> None:
    """Kernels for missing ops lower, or a part of them, unless the values decide the shape."""
    snapshot, kernels = load("0.2.0+torch2.13"), declared()
    why = {op: why_not_lowered(kernel, snapshot) for op, kernel in kernels.items()}

    assert why["aten.trace.default"] == why["aten.unique_dim.default"] == ""
    assert why["aten.mm.default"] == "torch-tpu runs the op by itself"
    assert {op for op, words in why.items() if words not in {"", why["aten.mm.default"]}} == {
        "aten._unique.default"
    }


def test_a_wrong_gradient_is_told() -> None:
    """A composite's kernel that cuts the graph has other gradients than eager."""

    def l1_loss(self: torch.Tensor, target: torch.Tensor, reduction: int = 1) -> torch.Tensor:
        loss = (self - target).abs()
        return (loss, loss.mean(), loss.sum())[reduction]

    assert gradient("aten.l1_loss.default", l1_loss) == ()
    found = gradient("aten.l1_loss.default", lambda a, b, r=1: l1_loss(a.detach(), b, r))
    assert "where eager has" in found[0]


def test_inputs_without_a_formula_do_not_hide_the_others() -> None:
    """The second argument of igamma alone has a derivative, which is compared and lowered."""
    made = declared()["aten.igamma.default"]
    calls = collect([made], ["float32"])[made.op].calls["float32"]
    found = check_gradient(made, "float32", calls, {}, load("0.2.0+torch2.13"))
    assert found.tried == len(calls)
    lowered = joint(torch.ops.aten.igamma.default, calls[0])
    assert lowered is not None
    assert [t.requires_grad for t in lowered[1]] == [False, True]


def gradient(op: str, function: Callable[..., Any]) -> tuple[str, ...]:
    """Return what comparing gradients tells of ``function`` as the kernel of ``op``."""
    made = Declaration(op=op, function=function, source="", accuracy="")
    calls = collect([made], ["float32"])[op].calls["float32"]
    found = check_gradient(made, "float32", calls, {op: made}, load("0.2.0+torch2.13"))
    assert found.tried
    return found.failures


def test_a_definition_is_not_differentiated() -> None:
    """The kernel of an op that a TPU has only says what the op means: values, not gradients."""
    found = outcomes("aten.mm.default", lambda a, b: (a[:, :, None] * b).sum(1))
    assert {name for name, outcome in found.items() if outcome.tried} == {
        *("values", "nonfinite", "native")
    }


def test_a_kernel_that_calls_its_own_op_is_told() -> None:
    """A definition by itself defines nothing."""
    found = failing("aten.trace.default", torch.trace)
    assert "calls aten.trace.default" in found["gradient"]


def test_kernels_below_autograd_may_conjugate_lazily() -> None:
    """A product with a lazy conjugate is that product, also where autograd calls the kernel."""
    op, values = "aten.trace.default", torch.tensor([[1 + 2j]], requires_grad=True)
    made = Declaration(op=op, function=lambda x: (x * x.conj()).sum(), source="", accuracy="")
    with _Substituted({op: made}, load("0.2.0+torch2.13")):
        found = torch.trace(values)
    assert found.item() == 5


def test_derived_overloads_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """In-place and ``out=`` forms are held against eager's own."""
    assert outcomes("aten.mish.default", torch.nn.functional.mish)["derived"].counts == "6/6"

    def wrong(declaration: Declaration) -> list[Derived]:
        return [replace(one, function=lambda *_, out: out) for one in derive(declaration)][:1]

    monkeypatch.setattr("op_registry.reference.checks.derived.derive", wrong)
    told = failing("aten.mish.default", torch.nn.functional.mish)["derived"]
    assert "aten.mish.out: output 0: shape [0]" in told


def test_random_kernels_are_compared_by_distribution() -> None:
    """The right distribution passes, a shifted one and another shape do not."""

    def exponential(self: torch.Tensor, lambd: float = 1, *, generator: Any = None) -> Any:
        del generator
        return self.copy_(-torch.rand_like(self).clamp_min(1e-12).log() / lambd)

    def shifted(self: torch.Tensor, lambd: float = 1, *, generator: Any = None) -> Any:
        return exponential(self, lambd, generator=generator).add_(0.1)

    assert "values" not in failing("aten.exponential_.default", exponential, noise=True)
    told = failing("aten.exponential_.default", shifted, noise=True)["values"]
    assert "distributions are" in told


def test_lower_precision_is_judged_by_the_wider_result() -> None:
    """A bfloat16 sum in float32 is right though eager's differs; a sloppier one is not."""
    values = torch.linspace(0, 1, 1000).to(torch.bfloat16)
    theirs = values.clone().cumsum(0)
    exact = values.float().cumsum(0)
    assert difference(exact.to(torch.bfloat16), theirs, exact) == ""
    assert "differ" in difference((exact * 1.1).to(torch.bfloat16), theirs, exact)


def test_exact_kernels_have_to_match_to_the_last_bit() -> None:
    """Tolerance 0 takes no neighbouring value."""
    one = torch.tensor([1.0])
    assert difference(one.nextafter(2 * one), one) == ""
    assert "differ" in difference(one.nextafter(2 * one), one, tolerance=0)


def test_samples_are_found_by_name_and_filed_by_dtype() -> None:
    """A backward op is reached by differentiating the forward's inputs; wrong calls are kept."""
    ops = ("aten.mish_backward.default", "aten.linalg_cross.default")
    made = [Declaration(op=op, function=trace, source="", accuracy="") for op in ops]
    found = collect(made, ["float32", "bfloat16"])
    backward, cross = (found[op] for op in ops)

    assert set(backward.calls) == {"float32", "bfloat16"}
    assert all(s.tensors()[0].dtype is torch.bfloat16 for s in backward.calls["bfloat16"])
    assert cross.wrong
    assert isinstance(cross.wrong[0], Sample)


def test_bfloat16_of_accelerators_is_made_of_float32_calls() -> None:
    """Where only a GPU takes bfloat16, asking for it alone gives the same samples."""
    made = declared()["aten._upsample_bilinear2d_aa.default"]
    alone, both = (
        collect([made], dtypes)[made.op].calls for dtypes in (["bfloat16"], ["float32", "bfloat16"])
    )
    assert alone.keys() == {"bfloat16"}
    assert len(alone["bfloat16"]) == len(both["bfloat16"]) == len(both["float32"])


def test_an_entry_that_does_not_exist() -> None:
    """A declaration that names no entry of torch's inputs is told so."""
    made = Declaration(
        op="aten.trace.default", function=trace, source="", accuracy="", samples=("nn.Nothing",)
    )
    with pytest.raises(ValueError, match=r"no entry 'nn\.Nothing'"):
        collect([made], ["float32"])


def test_choosing_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    """Names, files and patterns choose; a name without a kernel is an error with a hint."""
    kernels = {
        op: Declaration(op=op, function=trace, source="", accuracy="")
        for op in ("aten.trace.default", "aten.linalg_det.default")
    }
    assert [d.op for d in choose(["linalg*"], kernels)] == ["aten.linalg_det.default"]
    assert len(choose([], kernels)) == len(choose(["test_checks"], kernels)) == 2
    assert main(["nothing_like_it"]) == 2
    assert "no reference kernel is called 'nothing_like_it'" in capsys.readouterr().out


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """A kernel takes a line with counts, and the exit code says that all passed."""
    assert main(["aten.trace.default", "--dtype", "float32"]) == 0
    line = capsys.readouterr().out.splitlines()[0]
    assert line.startswith("pass aten.trace.default  float32: values 3/3")


def test_an_op_without_eager_kernel_is_compared_with_what_the_declaration_expects() -> None:
    """Where the CPU has no kernel the declaration's own definition stands in for eager."""
    assert "values" not in failing("aten.trace.default", trace, expected=trace)
    told = failing("aten.trace.default", trace, expected=lambda self: trace(self) + 1)
    assert "values differ" in told["values"]


def test_a_number_that_is_nan_on_both_sides_agrees() -> None:
    """NaN among the arguments of a call is the same NaN afterwards, and no other number."""
    assert difference(math.nan, float("nan")) == ""
    assert difference(math.nan, 1.0) == "nan where eager has 1.0"


@pytest.mark.parametrize("stable", [True, False, None])
def test_only_a_stable_sort_fixes_the_order_of_equal_elements(stable: bool | None) -> None:
    """Another order of equal elements is wrong where the call asks for a stable sort."""
    made = declared()["aten.sort.stable"]
    x = torch.tensor([2.0, 1.0, 1.0])
    swapped = replace(made, function=lambda self, **_: (self.sort()[0], torch.tensor([2, 1, 0])))

    outcome = check_values(swapped, "float32", [Sample(args=(x,), kwargs={"stable": stable})])

    assert outcome.passed == (not stable)
