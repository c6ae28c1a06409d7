"""What becomes of a quantised checkpoint on a machine with a TPU and no GPU, method by method.

Read from the quantizers of transformers, which decide it when weights are loaded: each entry names
the file and quotes the words in it that it rests on. A test looks the words up in the transformers
that is installed, and holds the table against its list of methods.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

READ_IN = "5.24.0"
"""Release of transformers whose files were read."""


class Fate(StrEnum):
    """What loading such a checkpoint comes to where there is no GPU."""

    REFUSED = "refused"
    """transformers raises."""
    DENSE = "dense"
    """transformers dequantises by itself: the dense model runs, which is what was traced."""
    PLAIN = "plain"
    """Layers of ordinary PyTorch calls, which the trace does not show."""
    PACKAGE = "package"
    """Layers of another package, whose kernels the trace does not show."""
    UNKNOWN = "unknown"
    """transformers has no loader for the method: it takes the packed numbers for weights."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scheme:
    """One quantisation method."""

    fate: Fate
    needs: str
    """What the loader or its layers need, as a noun phrase."""
    source: str
    """File of transformers, below the package."""
    quotes: tuple[str, ...]
    """Words in that file that the entry rests on."""
    dense: str = ""
    """How to get the dense weights, where the loader offers a way; a sentence."""
    ops: tuple[str, ...] = ()
    """Op overloads that the quantised layers call, for the registry to judge. Those of ordinary
    PyTorch calls were traced layer by layer, the others stand in the source."""


def _named(ops: str) -> tuple[str, ...]:
    return tuple(f"aten.{op}" for op in ops.split())


def _quantizer(name: str) -> str:
    return f"quantizers/quantizer_{name}.py"


_FP8 = Scheme(
    fate=Fate.DENSE,
    needs="a GPU for its Triton kernels",
    source=_quantizer("finegrained_fp8"),
    quotes=("we will default to dequantizing the model to bf16 since no GPU or XPU is available",),
)
_BITSANDBYTES = "bitsandbytes' own kernels, for the devices that it supports"

SCHEMES: dict[str, Scheme] = {
    "fp8": _FP8,
    "mxfp8": _FP8,
    "mxfp4": Scheme(
        fate=Fate.DENSE,
        needs="Triton kernels from the hub, on CUDA, XPU or CPU",
        source=_quantizer("mxfp4"),
        quotes=(
            'device.type not in ["cuda", "xpu", "cpu"]',
            "we will default to dequantizing the model to bf16",
        ),
    ),
    "metal": Scheme(
        fate=Fate.DENSE,
        needs="an Apple GPU",
        source=_quantizer("metal"),
        quotes=("We will default to dequantizing the model to the original dtype.",),
    ),
    "gguf": Scheme(
        fate=Fate.DENSE,
        needs="a matmul kernel of the hub for the device",
        source=_quantizer("gguf"),
        quotes=("Dequantizing the whole model, because", "no GGUF matmul kernel is published"),
    ),
    "eetq": Scheme(
        fate=Fate.REFUSED,
        needs="a CUDA GPU and EETQ kernels of the hub",
        source=_quantizer("eetq"),
        quotes=("No GPU found. A GPU is needed for quantization.",),
    ),
    "fbgemm_fp8": Scheme(
        fate=Fate.REFUSED,
        needs="a CUDA GPU of compute capability 9.0 with fbgemm-gpu, or an XPU",
        source=_quantizer("fbgemm_fp8"),
        quotes=("Using fbgemm fp8 quantization requires a GPU or XPU", "major < 9"),
        ops=("aten._scaled_mm.default", "fbgemm.f8f8bf16_rowwise.default"),
    ),
    "fp_quant": Scheme(
        fate=Fate.REFUSED,
        needs="a CUDA GPU or an XPU, with fp_quant and qutlass",
        source=_quantizer("fp_quant"),
        quotes=("FPQuant quantization is only supported on GPU or Intel XPU.", "qutlass"),
    ),
    "higgs": Scheme(
        fate=Fate.REFUSED,
        needs="a CUDA GPU with flute-kernel and fast_hadamard_transform",
        source=_quantizer("higgs"),
        quotes=("HIGGS quantization is only supported on GPU.", "flute-kernel"),
    ),
    "nvfp4": Scheme(
        fate=Fate.REFUSED,
        needs="a CUDA GPU of compute capability 10.0, and no quantised checkpoint at all",
        source=_quantizer("nvfp4"),
        quotes=(
            "Loading pre-quantized NVFP4 checkpoints is not supported yet.",
            "NVFP4 quantization requires a CUDA GPU.",
        ),
    ),
    "spqr": Scheme(
        fate=Fate.REFUSED,
        needs="a CUDA GPU with spqr_quant",
        source=_quantizer("spqr"),
        quotes=("GPU is required to run SpQR quantized model.", "spqr_quant[gpu]"),
    ),
    "vptq": Scheme(
        fate=Fate.REFUSED,
        needs="a CUDA GPU with vptq",
        source=_quantizer("vptq"),
        quotes=("GPU is required to run VTPQ quantized model.",),
    ),
    "bitnet": Scheme(
        fate=Fate.PLAIN,
        needs="no package: weights are unpacked from int8 in every call",
        source="integrations/bitnet.py",
        quotes=("w_quant = unpack_weights(w, dtype=self.dtype)", "F.linear(input_quant"),
        ops=_named(
            "__rshift__.Scalar _to_copy.default abs.default bitwise_and.Scalar clamp.default "
            "copy_.default div.Tensor linear.default max.dim mul.Tensor reciprocal.default "
            "round.default slice.Tensor sub.Tensor zeros.default"
        ),
    ),
    "gemma": Scheme(
        fate=Fate.PLAIN,
        needs="no package: weights are unpacked from int8 or uint8 in every call",
        source="integrations/gemma_quant.py",
        quotes=("F.linear(x, self._dequantize_weights(x.dtype), self.bias)",),
        ops=_named(
            "__rshift__.Scalar _to_copy.default alias.default bitwise_and.Scalar clamp.default "
            "div.Tensor linear.default mul.Tensor ne.Scalar ones_like.default round.default "
            "stack.default sub.Tensor view.default where.self"
        ),
    ),
    "compressed-tensors": Scheme(
        fate=Fate.PACKAGE,
        needs="compressed-tensors, or a scaled matmul that transformers runs on CUDA, XPU and MPS",
        source="integrations/compressed_tensors.py",
        quotes=("torch.nn.functional.scaled_mm(", "torch._scaled_mm("),
        dense="Load it with `quantization_config=CompressedTensorsConfig(dequantize=True)`.",
        ops=_named("_scaled_mm_v2.default _scaled_mm.default"),
    ),
    "bitsandbytes_4bit": Scheme(
        fate=Fate.PACKAGE,
        needs=_BITSANDBYTES,
        source=_quantizer("bnb_4bit"),
        quotes=("validate_bnb_backend_availability(raise_exception=True)", "def _dequantize("),
        dense="Load it where bitsandbytes runs, call `model.dequantize()` and save that.",
    ),
    "bitsandbytes_8bit": Scheme(
        fate=Fate.PACKAGE,
        needs=_BITSANDBYTES,
        source=_quantizer("bnb_8bit"),
        quotes=("validate_bnb_backend_availability(raise_exception=True)", "def _dequantize("),
        dense="Load it where bitsandbytes runs, call `model.dequantize()` and save that.",
    ),
    "gptq": Scheme(
        fate=Fate.PACKAGE,
        needs="optimum and gptqmodel, without which it raises where there is no GPU",
        source=_quantizer("gptq"),
        quotes=(
            "gptq_supports_cpu = is_gptqmodel_available()",
            "GPU is required to quantize or run quantize model.",
        ),
    ),
    "awq": Scheme(
        fate=Fate.PACKAGE,
        needs="gptqmodel",
        source=_quantizer("awq"),
        quotes=("Loading an AWQ quantized model requires gptqmodel.",),
    ),
    "auto-round": Scheme(
        fate=Fate.PACKAGE,
        needs="auto-round",
        source=_quantizer("auto_round"),
        quotes=("requires auto-round library",),
    ),
    "aqlm": Scheme(
        fate=Fate.PACKAGE,
        needs="aqlm, whose kernels are for GPU and CPU",
        source=_quantizer("aqlm"),
        quotes=("pip install aqlm[gpu,cpu]",),
    ),
    "quanto": Scheme(
        fate=Fate.PACKAGE,
        needs="optimum-quanto",
        source=_quantizer("quanto"),
        quotes=("requires optimum-quanto library",),
    ),
    "quark": Scheme(
        fate=Fate.PACKAGE,
        needs="quark, AMD's package",
        source=_quantizer("quark"),
        quotes=("requires the `quark` library",),
    ),
    "hqq": Scheme(
        fate=Fate.PACKAGE,
        needs="hqq",
        source=_quantizer("hqq"),
        quotes=("is_hqq_available",),
    ),
    "torchao": Scheme(
        fate=Fate.PACKAGE,
        needs="torchao",
        source=_quantizer("torchao"),
        quotes=("requires torchao library",),
    ),
    "sinq": Scheme(
        fate=Fate.PACKAGE,
        needs="sinq, which runs on the CPU where there is no GPU",
        source=_quantizer("sinq"),
        quotes=("Quantization and inference will run on the CPU.",),
    ),
    "fouroversix": Scheme(
        fate=Fate.PACKAGE,
        needs="fouroversix",
        source=_quantizer("fouroversix"),
        quotes=("Using `fouroversix` requires fouroversix",),
    ),
}
"""Method, as transformers' table of quantizers names it -> what becomes of it."""

OTHER = Scheme(
    fate=Fate.UNKNOWN,
    needs="a loader that transformers does not have",
    source="quantizers/auto.py",
    quotes=("Hence, we will skip the quantization.",),
)
"""Any method that is not in the table."""
