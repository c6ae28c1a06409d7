"""Op problems that people met when they moved models to accelerators, against the real registry.

Each case is one of the calls behind a public issue, with the verdict that is right for TorchTPU:
what other backends lack is often native here, and the other way round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from op_registry import loader
from op_registry.schema import Support
from tests.support.calls import audit, codes, tensor, use

if TYPE_CHECKING:
    from tpu_audit.types.trace import OpUse, TensorRef

REGISTRY = loader.load("0.2.0+torch2.13")
NATIVE, MISSING = Support.NATIVE, Support.MISSING
X, MASK, IDS = tensor(4, 4, dtype="float32"), tensor(4, 4, dtype="bool"), tensor(4, dtype="int64")


def wide(dtype: str) -> TensorRef:
    """Return a matrix of ``dtype``."""
    return tensor(4, 4, dtype=dtype)


def host(dtype: str) -> TensorRef:
    """Return a matrix on the host."""
    return tensor(4, 4, dtype=dtype, device="cpu")


def made(op: str, *inputs: TensorRef, **fields: Any) -> OpUse:
    """Return a call whose output is like its last input."""
    return use(op, *inputs, **({"outputs": inputs[-1:]} | fields))


CASES = {
    "float64 rope table (diffusers 11315)": (
        made("aten.mul.Tensor", wide("float64"), wide("float64")),
        NATIVE,
        {"TPA912"},
    ),
    "float64 grid copied to the device (diffusers 14639)": (
        use("aten._to_copy.default", host("float64"), outputs=(wide("float64"),)),
        NATIVE,
        {"TPA912", "TPA914"},
    ),
    "complex128 rope (DiffSynth-Studio 1191)": (
        made("aten.mul.Tensor", wide("complex128"), wide("complex128")),
        NATIVE,
        {"TPA912"},
    ),
    "complex64 rope is native (pytorch/xla 9215)": (
        use("aten.view_as_complex.default", X, outputs=(wide("complex64"),), bytes=0),
        NATIVE,
        set(),
    ),
    "complex64 product is information (tt-xla 3060)": (
        made("aten.mul.Tensor", wide("complex64"), wide("complex64")),
        NATIVE,
        {"TPA919"},
    ),
    "unique has a kernel and no fixed shape (pytorch/xla 4511)": (
        made("aten._unique2.default", IDS),
        NATIVE,
        {"TPA911"},
    ),
    "bincount has a kernel and no fixed shape (pytorch/xla 4511)": (
        made("aten.bincount.default", IDS),
        NATIVE,
        {"TPA911"},
    ),
    "item() (pytorch/xla 4511)": (
        use("aten._local_scalar_dense.default", tensor(), outputs=(), host_read=True),
        NATIVE,
        {"TPA910"},
    ),
    "ctc_loss is native, and reads lengths back in some samples (pytorch/xla 2844)": (
        made("aten._ctc_loss.Tensor", X, IDS, IDS),
        NATIVE,
        {"TPA911", "TPA924"},
    ),
    "repeat_interleave without a size (pytorch/xla 4821)": (
        made("aten.repeat_interleave.Tensor", IDS),
        NATIVE,
        {"TPA911"},
    ),
    "bicubic resizing is native (ComfyUI-SUPIR 47)": (
        made("aten.upsample_bicubic2d.default", tensor(1, 3, 8, 8)),
        NATIVE,
        set(),
    ),
    "antialiased resizing is not, though a composite exists (pytorch 141287)": (
        made("aten._upsample_bicubic2d_aa.default", tensor(1, 3, 8, 8)),
        MISSING,
        {"TPA901"},
    ),
    "qr is native (pytorch 141287)": (made("aten.linalg_qr.default", X), NATIVE, set()),
    "unique_dim is missing (pytorch 141287)": (
        made("aten.unique_dim.default", X),
        MISSING,
        {"TPA901", "TPA911"},
    ),
    "gamma sampling is missing (pytorch 141287)": (
        made("aten._standard_gamma.default", X),
        MISSING,
        {"TPA901"},
    ),
    "GradScaler is missing (pytorch 141287)": (
        made("aten._amp_foreach_non_finite_check_and_unscale_.default", X),
        MISSING,
        {"TPA901"},
    ),
    "grid_sample is native, and computes in float64 (rf-detr 622)": (
        made("aten.grid_sampler_2d.default", tensor(1, 3, 8, 8), tensor(1, 8, 8, 2)),
        NATIVE,
        {"TPA912"},
    ),
    "torchvision's ops have no kernel (vision 9164)": (
        made("torchvision.deform_conv2d.default", X),
        MISSING,
        {"TPA901"},
    ),
    "the encoder's nested tensor is missing (intel-extension-for-pytorch 493)": (
        made("aten._nested_tensor_from_mask_left_aligned.default", X, MASK),
        MISSING,
        {"TPA901"},
    ),
    "the encoder's fast path is native (torch-xpu-ops 2186)": (
        made("aten._transformer_encoder_layer_fwd.default", X),
        NATIVE,
        set(),
    ),
    "embedding_bag is native, its bookkeeping outputs differ (pytorch/xla 2318)": (
        made("aten._embedding_bag.default", X, IDS, IDS),
        NATIVE,
        {"TPA924"},
    ),
    "cumsum on int64 masks is silent (pytorch 96610)": (
        made("aten.cumsum.default", IDS),
        NATIVE,
        set(),
    ),
    "reading by a mask (coremltools 1132)": (
        use("aten.index.Tensor", X, MASK, outputs=(tensor(16, dtype="float32"),)),
        NATIVE,
        {"TPA911"},
    ),
    "index_copy, the fix for growing caches, is native (transformers 31129)": (
        made("aten.index_copy_.default", X, IDS, X),
        NATIVE,
        set(),
    ),
    "masked_scatter is native (optimum-habana 1884)": (
        made("aten.masked_scatter.default", X, MASK, X),
        NATIVE,
        set(),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_known_problem(case: str) -> None:
    """Support and findings are those that are right for TorchTPU."""
    call, support, wanted = CASES[case]
    result = audit(call, registry=REGISTRY)
    assert result.rows[0].support is support, result.rows[0].reason
    assert codes(result) == wanted


def test_advice_for_a_missing_size_is_to_give_it() -> None:
    """A finding without a fix is what people complain about: pass output_size."""
    call = made("aten.repeat_interleave.Tensor", IDS)
    (found,) = audit(call, registry=REGISTRY).findings
    assert "output_size=" in found.fix
