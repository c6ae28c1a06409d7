"""What defines an op: found mechanically, compared with eager PyTorch."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from op_registry.build.samples.sample import Sample
from op_registry.build.table import overload_of
from op_registry.loader import load
from op_registry.reference.declare import Declaration, declared
from op_registry.reference.inexpressible import INEXPRESSIBLE
from op_registry.reference.pointers import (
    How,
    Reference,
    candidates,
    functional_forms,
)
from op_registry.reference.proof import Proof, calls_itself, prove
from op_registry.reference.samples import collect
from op_registry.schema import Support

KERNELS = "op_registry.reference.kernels"


def samples(op: str, *dtypes: str) -> dict[str, list[Sample]]:
    """Return torch's samples of an op by dtype."""
    made = Declaration(op=op, function=len, source="", accuracy="")
    return dict(collect([made], dtypes)[op].calls)


@pytest.mark.parametrize(
    ("op", "how", "path"),
    [
        ("aten.trace.default", How.OWN, f"{KERNELS}.trace.trace"),
        ("aten.silu.default", How.DECOMPOSITION, "torch._decomp.decompositions.silu"),
        ("aten.linear.default", How.COMPOSITE, "aten.linear.default (CompositeImplicitAutograd)"),
        (
            "tpu._max_pool2d.default",
            How.OWN,
            "op_registry.reference.kernels.core_max_pool.max_pool",
        ),
    ],
)
def test_kinds_of_definitions(op: str, how: How, path: str) -> None:
    """Own kernels come first, then torch's decompositions, then PyTorch's composites."""
    found = next(candidates(op))
    assert (found.how, found.path) == (how, path)


def test_other_forms_take_the_functional_one() -> None:
    """In-place and ``out=`` forms name the function of their functional form."""
    assert functional_forms("aten.mm.out") == ["aten.mm.default"]
    assert functional_forms("aten.mm.default") == []
    found = next(candidates("aten.mm.out"))
    assert (found.of, found.path.rpartition(".")[2]) == ("aten.mm.default", "mm")
    out = torch.zeros(2, 2)
    given = torch.eye(2)
    assert found.function(given, given, out=out) is out
    assert torch.equal(out, given)


@pytest.mark.parametrize(
    ("op", "functional", "path"),
    [
        ("aten.mish_.default", "aten.mish.default", "activations.mish"),
        ("aten.mish.out", "aten.mish.default", "activations.mish"),
        ("aten.kthvalue.values", "aten.kthvalue.default", "order_statistics.kthvalue"),
    ],
)
def test_other_forms_of_own_kernels(op: str, functional: str, path: str) -> None:
    """Own kernels define the other forms too, compared as where they are written."""
    first = next(candidates(op))
    assert (first.how, first.of, first.path) == (How.OWN, functional, f"{KERNELS}.{path}")
    proof = prove(op, _forms(op, functional))
    assert proof is not None
    assert (proof.reference.path, proof.failures) == (f"{KERNELS}.{path}", ())
    assert set(proof.checks) == {"float32"}


def _forms(op: str, functional: str) -> dict[str, list[Sample]]:
    """Return samples of the functional form, with outputs where ``op`` takes them."""
    schema = getattr(overload_of(op), "_schema")  # noqa: B009 - the stubs of torch lack it
    outs = [argument.name for argument in schema.arguments if argument.is_out]
    made = [
        Sample(args=given.args, kwargs=given.kwargs | _outputs(functional, given, outs))
        for given in samples(functional, "float32")["float32"]
    ]
    return {"float32": made}


def _outputs(functional: str, given: Sample, names: list[str]) -> dict[str, torch.Tensor]:
    overload = overload_of(functional)
    assert overload is not None
    results = overload(*given.args, **given.kwargs)
    results = results if isinstance(results, tuple) else (results,)
    return dict(zip(names, map(torch.zeros_like, results), strict=False))


def test_an_op_nobody_knows() -> None:
    """No such op, no definition."""
    assert list(candidates("aten.nothing_like_it.default")) == []
    assert prove("aten.nothing_like_it.default", {}) is None


@pytest.mark.parametrize(
    "op", [*("aten.add.Tensor", "aten.mm.default", "aten.native_layer_norm.default")]
)
def test_definitions_are_compared(op: str) -> None:
    """A definition that agrees with eager on every sample holds, with counts by dtype."""
    proof = prove(op, samples(op, "float32", "bfloat16"))
    assert proof is not None
    assert proof.holds, proof.failures
    assert set(proof.checks) == {"float32", "bfloat16"}


def test_what_eager_refuses_does_not_count() -> None:
    """Eager has no absolute value of booleans: nothing can be compared with it there."""
    bools = [Sample(args=([torch.ones(2, dtype=torch.bool)],), kwargs={})]
    floats = [Sample(args=([torch.ones(2)],), kwargs={})]
    proof = prove("aten._foreach_abs.default", {"float32": floats, "bool": bools})
    assert proof is not None
    assert proof.checks == {"float32": "1/1"}


def test_out_arguments_count_as_the_result_does() -> None:
    """Which of several equal elements topk names is open, also where it writes them."""
    outs = {"values": torch.zeros(3), "indices": torch.zeros(3, dtype=torch.int64)}
    ties = [Sample(args=(torch.tensor([1.0, 2, 1, 1, 2, 1]), 3), kwargs=outs)]
    proof = prove("aten.topk.values", {"float32": ties})
    assert proof is not None
    assert proof.holds, proof.failures


def test_a_wrong_definition_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several definitions the one that agrees is taken; what never agrees defines nothing."""
    op, given = "aten.relu.default", samples("aten.relu.default", "float32")
    right = next(candidates(op))
    close = Reference(op=op, path="close", how=How.REF, function=torch.ops.aten.gelu.default)
    wrong = Reference(op=op, path="wrong", how=How.REF, function=torch.ops.aten.cosh.default)

    def proved(*found: Reference) -> Proof | None:
        monkeypatch.setattr("op_registry.reference.proof.candidates", lambda _: iter(found))
        return prove(op, given)

    assert proved(wrong, right) == prove(op, given)
    assert proved(wrong) is None
    empty = {"float32": [Sample(args=(torch.zeros(0),), kwargs={}), *given["float32"]]}
    monkeypatch.setattr("op_registry.reference.proof.candidates", lambda _: iter([close]))
    partly = prove(op, empty)
    assert partly is not None
    assert not partly.holds
    assert partly.failures[0].startswith("float32: ")


def test_what_the_backend_lacks_takes_the_own_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """An own kernel that agrees in part gives way to one of torch's, unless it gets installed."""
    op = "aten.mish.default"
    own, torchs = list(candidates(op))[:2]
    given = {
        "float32": [Sample(args=(torch.ones(2),), kwargs={}), *samples(op, "float32")["float32"]]
    }

    def wrong_for_ones(self: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = own.function(self)
        return result if self.ne(1).any() or not self.numel() else result + 1

    close = replace(own, function=wrong_for_ones)
    declaration = replace(declared()[op], function=wrong_for_ones)
    monkeypatch.setattr("op_registry.reference.proof.declared", lambda: {op: declaration})
    monkeypatch.setattr("op_registry.reference.proof.candidates", lambda _: iter([close, torchs]))

    passed, taken = prove(op, given), prove(op, given, lacking=True)
    assert passed is not None
    assert (passed.reference, passed.failures) == (torchs, ())
    assert taken is not None
    assert taken.reference == close
    assert len(taken.failures) == 1


def test_a_definition_must_not_be_what_it_defines() -> None:
    """A function that comes back to the op, at any depth, defines nothing."""
    given = samples("aten.mm.default", "float32")
    for function, circular in (
        (torch.mm, True),
        (lambda a, b: torch.nn.functional.linear(a, b.t()), True),
        (lambda a, b: (a.unsqueeze(-1) * b).sum(1), False),
    ):
        itself = Reference(op="aten.mm.default", path="it", how=How.REF, function=function)
        assert calls_itself(itself, given) is circular


def test_a_cpu_may_end_in_what_the_backend_lacks() -> None:
    """Convolutions of a CPU end in the ops whose kernels are a convolution; a TPU's do not."""
    op = "aten.slow_conv_dilated2d.default"
    given = samples(op, "float64")
    own = next(candidates(op))
    assert calls_itself(own, given)
    assert prove(op, given) is None

    proof = prove(op, given, lacking=True)
    assert proof is not None
    assert (proof.reference, proof.holds) == (own, True)


def test_every_native_op_of_the_core_set_has_a_definition() -> None:
    """PyTorch's core ops that a TPU has are all defined, or it is said why not."""
    lacking = [
        op
        for op, found in load("0.2.0+torch2.13").ops.items()
        if found.support is Support.NATIVE
        and torch.Tag.core in getattr(overload_of(op), "tags", ())
        and next(candidates(op), None) is None
    ]
    assert set(lacking) <= set(INEXPRESSIBLE)
