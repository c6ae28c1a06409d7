"""Import packages by what they need: CUDA itself, or another framework than PyTorch."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpu_audit.rules.python.module import Module

CUDA_ONLY = frozenset(
    {
        *("flash_attn", "flash_attn_interface", "flash_attn_2_cuda", "apex", "amp_C", "cupy"),
        *("pycuda", "tensorrt", "torch_tensorrt", "transformer_engine", "transformer_engine_torch"),
        *("mamba_ssm", "causal_conv1d", "causal_conv1d_cuda", "selective_scan_cuda", "fused_adam"),
        *("exllama_kernels", "exllamav2_kernels", "awq_ext", "awq_inference_engine", "cvcuda"),
        *("autogptq_cuda_64", "autogptq_cuda_256", "spconv", "MinkowskiEngine", "tinycudann"),
        *("nvdiffrast", "fused_layer_norm_cuda", "sageattention", "flashinfer", "deep_gemm"),
    }
)
"""Packages whose import fails without CUDA: on a TPU host their flags are false."""
OTHER_FRAMEWORKS = frozenset(
    {
        *("jax", "flax", "jaxlib", "haiku", "equinox", "optax", "tensorflow", "tf", "paddle"),
        *("mxnet", "cupy", "numba", "pycuda", "ctranslate2", "faster_whisper", "onnxruntime"),
        *("tensorrt", "xgboost", "lightgbm", "catboost", "cudf", "cuml", "cugraph", "mlx", "warp"),
        *("whisperx", "taichi", "theano", "chainer", "dgl", "rmm", "dask_cudf", "cv2", "openmm"),
        *("polars", "qiskit", "pyopencl", "tvm", "keras", "mindspore", "oneflow", "jittor"),
    }
)
"""Packages with devices of their own: ``device="cuda"`` is not PyTorch's there."""
_JAX = frozenset({"jax", "flax", "jaxlib", "haiku", "equinox", "optax"})
_TORCH = frozenset(
    {
        *("torch", "torchvision", "torchaudio", "transformers", "diffusers", "accelerate", "timm"),
        *("lightning", "pytorch_lightning", "sentence_transformers", "torchmetrics", "peft", "trl"),
        *("fairseq", "torch_geometric", "monai", "ultralytics", "deepspeed", "fastai", "ignite"),
    }
)


class Libraries:
    """What one module imports, by top-level package."""

    def __init__(self, module: Module) -> None:
        self._module = module

    @cached_property
    def roots(self) -> frozenset[str]:
        """Top-level packages that statements import; relative imports are left out."""
        names = [alias.name for node in self._module.index.of(ast.Import) for alias in node.names]
        sources = self._module.index.of(ast.ImportFrom)
        names += [node.module for node in sources if node.module and not node.level]
        return frozenset(name.partition(".")[0] for name in names)

    @cached_property
    def is_jax(self) -> bool:
        """Whether the file is JAX's: it imports JAX and nothing of PyTorch."""
        return bool(self.roots & _JAX) and not self.roots & _TORCH

    @property
    def may_be_torch(self) -> bool:
        """Whether the file imports something of PyTorch, or nothing at all."""
        return not self.roots or bool(self.roots & _TORCH)

    def of_call(self, call: ast.Call | None) -> str:
        """Return the framework other than PyTorch that a call is of; empty for PyTorch's."""
        if call is None:
            return ""
        callee = call.func
        while isinstance(callee, ast.Attribute | ast.Call):
            callee = callee.value if isinstance(callee, ast.Attribute) else callee.func
        if not isinstance(callee, ast.Name) or not self.roots & OTHER_FRAMEWORKS:
            return ""
        names = self._module.qualified(callee) | self._made_by(callee)
        heads = {name.partition(".")[0] for name in names}
        return min(heads & OTHER_FRAMEWORKS, default="")

    def _made_by(self, name: ast.Name) -> frozenset[str]:
        """Return the dotted names of the calls that made an object."""
        values = [binding.value for binding in self._module.scopes.bindings(name)]
        calls = [value for value in values if isinstance(value, ast.Call)]
        return frozenset(n for call in calls for n in self._module.qualified(call.func))

    def soft_flag(self, node: ast.Name) -> bool:
        """Tell whether a name is set by whether a package that needs CUDA can be imported.

        ``HAS_FLASH`` of ``try: import flash_attn; HAS_FLASH = True``, or the package's own name
        where the handler sets it to None.
        """
        bindings = self._module.scopes.bindings(node)
        statements = [self._module.statement(binding.node) for binding in bindings]
        tries = [self._module.parent(statement) for statement in statements]
        return any(
            isinstance(block, ast.Try) and statement in block.body and _imports_cuda(block)
            for statement, block in zip(statements, tries, strict=True)
        )


def _imports_cuda(block: ast.Try) -> bool:
    for statement in block.body:
        names: list[str] = []
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            names = [statement.module or ""]
        if any(name.partition(".")[0] in CUDA_ONLY for name in names):
            return True
    return False
