"""Native ops to hold a kernel's cost against: for each file of kernels one that does alike work."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LIKE: Mapping[str, str] = MappingProxyType(
    {
        "activations": "aten.gelu.default",
        "adaptive_max_pool": "aten.max_pool2d_with_indices.default",
        "airy": "aten.lgamma.default",
        "amp": "aten.mul.Tensor",
        "attention_input": "aten.add.Tensor",
        "batch_norm_update": "aten.native_batch_norm.default",
        "bessel": "aten.lgamma.default",
        "binomial": "aten.bernoulli.Tensor",
        "chebyshev_polynomials": "aten.lgamma.default",
        "cholesky": "aten.linalg_qr.default",
        "convolutions": "aten.convolution.default",
        "determinant": "aten.linalg_qr.default",
        "dirichlet_gradient": "aten.lgamma.default",
        "dropout": "aten.mul.Tensor",
        "efficient_attention": "aten._scaled_dot_product_attention_math.default",
        "efficient_attention_packed": "aten._scaled_dot_product_attention_math.default",
        "eigh": "aten.linalg_qr.default",
        "elementwise": "aten.pow.Tensor_Tensor",
        "embedding_bag_backward": "aten.embedding_dense_backward.default",
        "erfc": "aten.erf.default",
        "fake_quantize": "aten.round.default",
        "fake_quantize_learnable": "aten.round.default",
        "flash_attention": "aten._scaled_dot_product_attention_math.default",
        "flash_attention_cpu": "aten._scaled_dot_product_attention_math.default",
        "flash_attention_packed": "aten._scaled_dot_product_attention_math.default",
        "float_parts": "aten.pow.Tensor_Tensor",
        "fractional_max_pool": "aten.max_pool2d_with_indices.default",
        "gamma_gradient": "aten.lgamma.default",
        "gamma_samples": "aten.lgamma.default",
        "gcd": "aten.remainder.Tensor",
        "hash_tensor": "aten.sum.default",
        "histogram": "aten.histc.default",
        "householder": "aten.linalg_qr.default",
        "igamma": "aten.lgamma.default",
        "int4_matmul_cpu": "aten.mm.default",
        "int4_matmul_cuda": "aten.mm.default",
        "int4_matmul_dynamic": "aten.mm.default",
        "int_matmul": "aten.mm.default",
        "least_squares": "aten.linalg_qr.default",
        "logaddexp": "aten.pow.Tensor_Tensor",
        "margin_losses": "aten.nll_loss_forward.default",
        "matmul_backward": "aten.mm.default",
        "matrix_exp": "aten.linalg_qr.default",
        "max_pool_backward": "aten.max_pool2d_with_indices_backward.default",
        "max_unpool": "aten.scatter.src",
        "mode": "aten.sort.default",
        "modified_bessel": "aten.lgamma.default",
        "nonzero_static": "aten.cumsum.default",
        "normal_quantile": "aten.erfinv.default",
        "order_statistics": "aten.sort.default",
        "orthogonal_polynomials": "aten.lgamma.default",
        "poisson": "aten.lgamma.default",
        "products": "aten.mul.Tensor",
        "quantized_decomposed": "aten.round.default",
        "quantized_decomposed_tokens": "aten.amax.default",
        "random_transforms": "aten.log.default",
        "reductions": "aten.sum.dim_IntList",
        "resize_antialias": "aten.upsample_bilinear2d.default",
        "resize_linear": "aten.upsample_bilinear2d.default",
        "robust_losses": "aten.mse_loss.default",
        "rrelu": "aten.leaky_relu.default",
        "scaled_grouped_mm": "aten.mm.default",
        "segment_reduce_backward": "aten.scatter_add.default",
        "sequences": "aten.linspace.default",
        "sequences_out": "aten.linspace.default",
        "slow_convolutions": "aten.convolution.default",
        "sparse_indices": "aten.searchsorted.Tensor",
        "sync_batch_norm": "aten.native_batch_norm.default",
        "sync_batch_norm_backward": "aten.native_batch_norm_backward.default",
        "torchvision_deform_conv2d": "aten.grid_sampler_2d.default",
        "torchvision_nms": "aten.sort.default",
        "torchvision_ps_roi": "aten.grid_sampler_2d.default",
        "torchvision_roi_align": "aten.grid_sampler_2d.default",
        "torchvision_roi_pool": "aten.grid_sampler_2d.default",
        "trace": "aten.sum.default",
        "triangular": "aten.linalg_solve_triangular.default",
        "unique": "aten.sort.default",
        "weight_norm": "aten.native_layer_norm_backward.default",
        "zeta": "aten.lgamma.default",
    }
)
"""File of kernels -> op overload."""


def like(path: str) -> str:
    """Return the native op for the kernel at ``path``; empty when there is none to compare with."""
    return LIKE.get(path.split(".")[-2], "")
