"""Whole families of ops, by how their names begin, that belong to what a TPU does not have.

They hold for ops that the backend lacks: of some families it has other members.
"""

from __future__ import annotations

_QUANTISED = (
    "it works on PyTorch's quantised dtypes or on weights packed for one CPU library, which the "
    "TPU backend does not have: quantise with quantized_decomposed, whose tensors are plain "
    "integers"
)
_ONEDNN = (
    "it belongs to oneDNN or MKL, libraries for CPUs with tensor layouts of their own: PyTorch "
    "picks it for tensors there alone"
)
_SPARSE = "it makes, checks or takes apart a sparse tensor, which the TPU backend does not have"
_NESTED = (
    "it makes or takes apart a nested tensor of the strided layout, which the TPU backend does not "
    "have: use the jagged layout, or pad"
)
_VENDOR = (
    "it names a kernel of one library for GPUs (cuDNN, MIOpen, Metal, Triton), which PyTorch picks "
    "for tensors there alone: call the op that the kernel speeds up"
)
_PEERS = (
    "it works on symmetric memory, which GPUs share with each other and the TPU backend does not "
    "have: use the collectives of torch.distributed"
)
_STATIC_RUNTIME = "it is made by the Static Runtime of TorchScript alone, which runs on CPUs"
_STREAM = "it ties memory to a CUDA stream, which no values of a tensor tell"
_TOOL = "it is a part of one of PyTorch's own tools, which runs it on the host"

FAMILIES = {
    **dict.fromkeys(
        ("quantized.", "_quantized.", "quantization.", "sparse.qlinear", "aten.qscheme."),
        _QUANTISED,
    ),
    **dict.fromkeys(
        (
            *("mkl.", "mkldnn.", "mkldnn_prepacked.", "onednn."),
            *("aten.mkldnn_", "aten._mkldnn_", "aten.to_mkldnn"),
        ),
        _ONEDNN,
    ),
    **dict.fromkeys(
        (
            *("aten._sparse_", "aten.sparse_", "aten.to_sparse", "aten._to_sparse"),
            *("aten._to_dense.", "aten._coalesce", "aten._indices.", "aten._values."),
            *("aten._nnz.", "aten._dimI.", "aten._dimV.", "aten._spsolve.", "aten.hspmm."),
            *("aten._gather_sparse_backward.", "aten._validate_compressed_sparse_indices."),
        ),
        _SPARSE,
    ),
    **dict.fromkeys(("aten._nested_", "aten.to_padded_tensor."), _NESTED),
    **dict.fromkeys(
        (
            *("aten.cudnn_", "aten._cudnn_", "aten._use_cudnn_", "aten.miopen_"),
            *("aten._use_miopen_", "aten.mps_", "aten._mps_", "aten.lstm_mps_", "aten._lstm_mps."),
            *("aten._scaled_dot_product_attention_math_for_mps.", "aten._triton_"),
        ),
        _VENDOR,
    ),
    "symm_mem.": _PEERS,
    "static_runtime.": _STATIC_RUNTIME,
    "aten.record_stream.": _STREAM,
    **dict.fromkeys(
        (
            *("debugprims.", "_inductor_test.", "export.access_subclass_inner_tensor."),
            "inductor_prims.inductor_reserve_rng_state.",
        ),
        _TOOL,
    ),
}
"""How the names of ops begin (``quantized.``) -> one sentence why."""
