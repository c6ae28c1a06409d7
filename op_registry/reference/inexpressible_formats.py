"""Ops on tensor formats that a TPU does not have, and decompositions that take unknown steps."""

from __future__ import annotations

_QUANTISED = (
    "its tensors carry a quantised dtype, which the TPU backend does not have: quantise with "
    "quantized_decomposed, whose tensors are plain integers"
)
_PACKED = (
    "its weights are an object of one CPU library's packed form, not a tensor: use int8 or int4 "
    "weight-only products"
)
_SEMI_STRUCTURED = (
    "its tensors hold two of four elements in the compressed form of NVIDIA's sparse tensor cores, "
    "which a TPU cannot multiply: keep the weights dense"
)
_CUTLASS = (
    "its weights are in the order that CUTLASS's kernels for NVIDIA's tensor cores read: use int8 "
    "or int4 weight-only products"
)
_EIGENVALUES = (
    "eigenvalues of a general matrix take QR steps whose number depends on the values, and XLA has "
    "no such decomposition for a TPU: compute them on the CPU, or use eigh for symmetric matrices"
)
_PIVOTS = (
    "Bunch-Kaufman pivoting takes one or two columns in a step as their values are, so that no "
    "fixed sequence of ops does it: use lu_factor, or cholesky for a positive definite matrix"
)

_BY_REASON = {
    _QUANTISED: (
        *(
            "aten._empty_affine_quantized.default",
            "aten._empty_per_channel_affine_quantized.default",
        ),
        "aten._make_per_channel_quantized_tensor.default",
        "aten._make_per_tensor_quantized_tensor.default",
        *("aten.dequantize.self", "aten.dequantize.tensors", "aten.empty_quantized.default"),
        *("aten.int_repr.default", "aten.q_scale.default", "aten.q_zero_point.default"),
        *("aten.q_per_channel_axis.default", "aten.q_per_channel_scales.default"),
        *("aten.q_per_channel_zero_points.default", "aten.quantize_per_channel.default"),
        *("aten.quantize_per_tensor.default", "aten.quantize_per_tensor.tensor_qparams"),
        *("aten.quantize_per_tensor.tensors", "aten.quantize_per_tensor_dynamic.default"),
        *("aten.quantized_batch_norm.default", "aten.quantized_max_pool1d.default"),
        *("aten.quantized_max_pool2d.default", "aten.quantized_max_pool3d.default"),
    ),
    _PACKED: (
        *("aten.quantized_gru.data", "aten.quantized_gru.data_legacy"),
        *("aten.quantized_gru.input", "aten.quantized_gru.input_legacy"),
        *("aten.quantized_lstm.data", "aten.quantized_lstm.data_legacy"),
        *("aten.quantized_lstm.input", "aten.quantized_lstm.input_legacy"),
        *("aten.quantized_gru_cell.default", "aten.quantized_lstm_cell.default"),
        *("aten.quantized_rnn_relu_cell.default", "aten.quantized_rnn_tanh_cell.default"),
        *("aten.fbgemm_linear_fp16_weight.default", "aten.fbgemm_linear_int8_weight.default"),
        "aten.fbgemm_linear_fp16_weight_fp32_activation.default",
        "aten.fbgemm_linear_int8_weight_fp32_activation.default",
        "aten.fbgemm_linear_quantize_weight.default",
        *("aten.fbgemm_pack_quantized_matrix.KN", "aten.fbgemm_pack_quantized_matrix.default"),
        "aten.fbgemm_pack_gemm_matrix_fp16.default",
        "aten._wrapped_quantized_linear_prepacked.default",
        "aten._wrapped_linear_prepack.default",
    ),
    _SEMI_STRUCTURED: (
        *("aten._cslt_compress.default", "aten._cslt_sparse_mm.default"),
        *("aten._cslt_sparse_mm_search.default", "aten._to_sparse_semi_structured.default"),
        "aten._sparse_semi_structured_addmm.default",
        "aten._sparse_semi_structured_apply.default",
        "aten._sparse_semi_structured_apply_dense.default",
        "aten._sparse_semi_structured_linear.default",
        "aten._sparse_semi_structured_mm.default",
        "aten._sparse_semi_structured_tile.default",
    ),
    _CUTLASS: ("aten._mixed_dtypes_linear.default",),
    _EIGENVALUES: (
        *("aten._linalg_eigvals.default", "aten.linalg_eig.default"),
        "aten.linalg_eigvals.default",
    ),
    _PIVOTS: (
        *("aten.linalg_ldl_factor.default", "aten.linalg_ldl_factor_ex.default"),
        "aten.linalg_ldl_solve.default",
    ),
}

FORMATS = {op: reason for reason, ops in _BY_REASON.items() for op in ops}
"""Op overload -> one sentence why."""
