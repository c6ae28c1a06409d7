"""What the packaged snapshots say, checked against what is known of the wheel."""

from __future__ import annotations

from collections import Counter

import pytest

from op_registry import load
from op_registry.codec import encode
from op_registry.loader import SNAPSHOTS, available
from op_registry.schema import EndsIn, Fallback, Hazard, Resolution, Snapshot, Support


@pytest.fixture(scope="module", name="wheel", params=available())
def _wheel(request: pytest.FixtureRequest) -> Snapshot:
    """Load each packaged snapshot."""
    return load(request.param)


def test_resolutions_of_aten_are_the_dispatchers() -> None:
    """For torch 2.13 every aten overload is there, and resolves as a dump of the table says.

    A count by the file that registers a kernel gives 879 and 434 for the two explicit kinds:
    ``all.dims`` and ``any.dims`` are registered as both, and the dispatcher prefers the
    non-functional kernel.
    """
    ops = [r for r in load("0.2.0+torch2.13").ops.values() if r.op.startswith("aten.")]

    assert len(ops) == 3111
    assert Counter(r.privateuse1 for r in ops) == {
        Resolution.KERNEL: 674,
        Resolution.COMPOSITE_EXPLICIT: 877,
        Resolution.COMPOSITE_EXPLICIT_NON_FUNCTIONAL: 436,
        Resolution.COMPOSITE_IMPLICIT: 722,
        Resolution.FALLBACK: 402,
    }


def test_other_namespaces_resolve_as_dumped() -> None:
    """Kernels of the backend's own ops and of collectives are in the table."""
    kernels = Counter(
        r.op.partition(".")[0]
        for r in load("0.2.0+torch2.13").ops.values()
        if r.privateuse1 is Resolution.KERNEL
    )

    assert kernels == {"aten": 674, "tpu": 32, "c10d": 19, "ao": 3, "fsdp": 3}


def test_header_names_the_environment(wheel: Snapshot) -> None:
    """Backend, package and every version that matters are there, and the wheel's hash."""
    assert (wheel.backend, wheel.package, wheel.version) == ("tpu", "torch-tpu", "0.2.0")
    assert {"torch", "torch-tpu", "libtpu", "python"} <= set(wheel.versions)
    assert len(wheel.record_sha256) == 64


def test_files_are_canonical(wheel: Snapshot) -> None:
    """Writing a loaded snapshot again gives the same bytes: two of them diff line by line."""
    minor = wheel.torch.rpartition(".")[0]
    stored = (SNAPSHOTS / f"torch-tpu-{wheel.version}-torch-{minor}.json").read_bytes()

    assert encode(wheel) == stored


def test_both_come_from_one_wheel() -> None:
    """The two snapshots differ in torch, not in the wheel."""
    assert len({load(name).record_sha256 for name in available()}) == 1
    assert {load(name).torch for name in available()} == {"2.13.0", "2.14.1"}


def test_every_verdict_has_reason_and_evidence(wheel: Snapshot) -> None:
    """No support without a sentence and something seen; missing ops carry their fallback."""
    records = wheel.ops.values()

    assert [r.op for r in records if not r.reason or not r.evidence] == []
    assert [
        r.op for r in records if (r.support is Support.MISSING) != (r.fallback is not None)
    ] == []


def test_kernels_are_native_and_fallbacks_never(wheel: Snapshot) -> None:
    """A registered kernel is native unless it refused every sample; the fallback never is."""
    for record in wheel.ops.values():
        if record.privateuse1 is Resolution.KERNEL and not record.refusals:
            assert record.support is Support.NATIVE, record.op
        if record.privateuse1 is Resolution.FALLBACK:
            assert record.support is not Support.NATIVE, record.op


def test_native_composites_end_in_kernels(wheel: Snapshot) -> None:
    """Each piece that a native composite was seen to end in is itself native."""
    for record in wheel.ops.values():
        if record.support is Support.NATIVE and record.ends_in:
            pieces = {piece: wheel.ops[piece].support for piece in record.ends_in}
            assert set(pieces.values()) == {Support.NATIVE}, (record.op, pieces)


def test_a_missing_op_quotes_the_wheel(wheel: Snapshot) -> None:
    """The reason carries the text that the wheel raises, seen when lowering a sample."""
    record = wheel.ops["aten.smooth_l1_loss.default"]

    assert "is not implemented for TPU" in record.reason
    assert record.fallback is Fallback.CPU_IF_ENABLED
    assert record.ends_in_how is EndsIn.STRUCTURED


def test_backend_specific_ops_have_no_fallback(wheel: Snapshot) -> None:
    """CUDA's own kernels have no CPU twin."""
    assert wheel.ops["aten.cudnn_convolution.default"].fallback is Fallback.NEVER


def test_elementwise_ops_do_not_sync(wheel: Snapshot) -> None:
    """The mark is no blanket: ops that lower have none."""
    for op in ("aten.add.Tensor", "aten.mm.default", "aten.gelu.default", "aten.cumsum.default"):
        assert Hazard.HOST_SYNC not in wheel.ops[op].hazards


def test_lost_gradients_are_found_by_rule(wheel: Snapshot) -> None:
    """Exactly the kernels over composites without an autograd kernel or a formula lose them."""
    losing = {r.op for r in wheel.ops.values() if Hazard.NO_GRADIENT in r.hazards}

    assert {"aten.avg_pool1d.default", "aten.lstm.input", "aten.gru.input"} <= losing
    assert losing.isdisjoint({"aten.linear.default", "aten.fft_rfft.default"})
    assert losing - {"aten.avg_pool1d.default", "aten.lstm.input", "aten.gru.input"} <= {
        "aten.embedding_backward.default",
        "aten.embedding_sparse_backward.default",
    }


def test_gradients_that_eager_keeps(wheel: Snapshot) -> None:
    """The recurrent kernels call ops that autograd sees; average pooling's does not."""
    kept = {r.op for r in wheel.ops.values() if r.eager_gradient}

    assert kept == {"aten.lstm.input", "aten.gru.input"}
    assert all("torch.compile" in wheel.ops[op].hazards[Hazard.NO_GRADIENT] for op in kept)


def test_cuda_kernels_are_known_to_a_cpu_build(wheel: Snapshot) -> None:
    """Whether CUDA has a kernel comes from the packaged declarations, not from this build."""
    assert wheel.ops["aten.cudnn_convolution.default"].cuda_kernel
    assert not wheel.ops["aten.cudnn_convolution.default"].cpu_kernel


def test_few_aten_ops_are_undecided(wheel: Snapshot) -> None:
    """At most one aten overload in twenty is unknown, each with its reason."""
    aten = [r for r in wheel.ops.values() if r.op.startswith("aten.")]
    unknown = [r for r in aten if r.support is Support.UNKNOWN]

    assert len(unknown) * 20 <= len(aten)
    assert all(r.reason for r in unknown)
