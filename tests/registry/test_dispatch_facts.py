"""More facts of the committed snapshots: dispatch keys, verdicts on everyday and on rare ops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from op_registry.schema import EvidenceKind, Hazard, Resolution, Support

if TYPE_CHECKING:
    from op_registry.schema import Snapshot


def test_dispatch_keys_of_torch_tpu(newest_213: Snapshot) -> None:
    """The wheel's registrations are all seen: 731 kernels, 21 for autograd, 135 for autocast."""
    records = newest_213.ops.values()
    assert sum(r.privateuse1 is Resolution.KERNEL for r in records) == 731
    assert sum(r.autograd is Resolution.KERNEL for r in records) == 21
    assert sum(r.autocast is Resolution.KERNEL for r in records) == 135


@pytest.mark.parametrize(
    "op",
    [
        "aten.add.Tensor",
        "aten.linear.default",
        "aten.mm.default",
        "aten._softmax.default",
        "aten.view.default",
        "aten._unsafe_view.default",
        "aten.native_layer_norm.default",
        "aten.convolution.default",
        "aten._fused_adamw_.default",
        "aten.scaled_dot_product_attention.default",
        "aten.remainder.Scalar",
        "aten.repeat.default",
        "_c10d_functional.all_reduce.default",
        "prims.abs.default",
        "aten._fused_rms_norm.default",
        "aten._scaled_dot_product_cudnn_attention.default",
        "aten.index_put_.default",
        "aten.detach.default",
        "aten.matmul.default",
        "aten.std.correction",
        "aten._foreach_add_.List",
        "tpu._max_pool2d.default",
    ],
)
def test_known_natives(committed: Snapshot, op: str) -> None:
    """Everyday ops run: by a kernel, a structured delegate, or observed to end in kernels."""
    assert committed.ops[op].support is Support.NATIVE, committed.ops[op].reason


@pytest.mark.parametrize(
    "op",
    [
        "aten.smooth_l1_loss.default",
        "aten.huber_loss.default",
        "aten.mish.default",
        "aten.median.default",
        "aten.kthvalue.default",
        "aten.mode.default",
        "aten.std_mean.correction",
        "aten.nansum.default",
        "aten.trace.default",
        "aten.erfc.default",
        "aten.addbmm.default",
        "aten.linalg_eigh.default",
        "aten._upsample_bilinear2d_aa.default",
        "aten._amp_update_scale_.default",
        "aten._int_mm.default",
        "aten._amp_foreach_non_finite_check_and_unscale_.default",
    ],
)
def test_known_missings(committed: Snapshot, op: str) -> None:
    """Ops that the wheel is known to refuse are missing."""
    assert committed.ops[op].support is Support.MISSING, committed.ops[op].reason


@pytest.mark.parametrize(
    "op",
    [
        "aten._local_scalar_dense.default",
        "aten.nonzero.default",
        "aten.equal.default",
        "aten.masked_select.default",
        "aten.unique_consecutive.default",
        "aten.bincount.default",
        "aten.repeat_interleave.Tensor",
        "aten.masked_fill_.Tensor",
        "aten.linalg_lu.default",
        "aten.lu_unpack.default",
        "aten.linspace.Tensor_Tensor",
        "aten.one_hot.default",
        "aten.allclose.default",
        "aten.linalg_solve.default",
        "aten.linalg_inv_ex.default",
    ],
)
def test_known_host_syncs(committed: Snapshot, op: str) -> None:
    """Ops that read from the device carry the hazard, with the text that lowering raised."""
    record = committed.ops[op]
    assert Hazard.HOST_SYNC in record.hazards
    texts = ("cannot record EventSnapshot", "cannot Materialize() a placeholder")
    said = [e.detail for e in record.evidence if e.kind is EvidenceKind.LOWERED]
    assert any(text in detail for detail in said for text in texts)


def test_dynamic_shapes_come_from_the_tags(committed: Snapshot) -> None:
    """Ops whose output's shape depends on values carry the hazard."""
    for op in ("aten.nonzero.default", "aten._unique2.default", "aten.masked_select.default"):
        assert Hazard.DYNAMIC_SHAPE in committed.ops[op].hazards


def test_what_a_tracer_needs_to_mimic_the_dispatch(committed: Snapshot) -> None:
    """Kernels over composite-implicit ops and the backend's autograd kernels can be told."""
    linear = committed.ops["aten.linear.default"]
    assert linear.privateuse1 is Resolution.KERNEL
    assert linear.composite_implicit
    assert linear.autograd is Resolution.KERNEL
    assert linear.autocast is Resolution.KERNEL
    assert committed.ops["aten.lstm.input"].autograd is Resolution.FALLTHROUGH
    assert committed.ops["aten.relu.default"].autograd is Resolution.AUTOGRAD_KERNEL


def test_structured_ops_end_in_their_delegate(committed: Snapshot) -> None:
    """The functional form of a structured op ends in its ``out`` form."""
    record = committed.ops["aten.add.Tensor"]
    assert record.structured_delegate == "aten.add.out"
    assert record.ends_in == ("aten.add.out",)


def test_cuda_kernels_are_known_without_a_cuda_build(newest_213: Snapshot) -> None:
    """The CPU build knows of CUDA kernels from the declarations."""
    assert newest_213.versions["torch"].endswith("+cpu")
    assert newest_213.ops["aten.add.Tensor"].cuda_kernel
    assert newest_213.ops["aten.cudnn_convolution.default"].cuda_kernel
    assert not newest_213.ops["aten.mkldnn_convolution.default"].cuda_kernel
