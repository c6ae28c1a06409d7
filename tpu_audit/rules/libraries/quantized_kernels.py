"""TPA610: libraries of quantised CUDA kernels."""

from __future__ import annotations

from tpu_audit.rules.libraries.quantization_packages import QUANTIZERS
from tpu_audit.rules.libraries.recognise import recognise, words
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

RULE = Rule(
    code="TPA610",
    name="quantized-kernels",
    severity=Severity.ERROR,
    words=words(QUANTIZERS),
    docs=Docs(
        what="Finds libraries of quantised CUDA kernels: AutoGPTQ, GPTQModel, AutoAWQ, "
        "ExLlama, AQLM, EETQ, FBGEMM and others.",
        why="Their layers call kernels that exist for CUDA alone; most of them do not "
        "build or import on a TPU host.",
        example="from awq import AutoAWQForCausalLM\n\n"
        "model = AutoAWQForCausalLM.from_quantized(path)",
        instead="model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.bfloat16)",
        references=(
            "https://github.com/pytorch/ao",
            "https://huggingface.co/docs/transformers/quantization/overview",
        ),
    ),
    valid=(
        Case("from torchao.quantization import quantize_\n"),
        Case("from mylib.quant.awq import search\n"),
        Case("from torch.ao.quantization import get_default_qconfig\n"),
    ),
    invalid=(
        Case(
            "from auto_gptq import AutoGPTQForCausalLM, BaseQuantizeConfig\n",
            lines=(1,),
            severity=Severity.ERROR,
        ),
        Case("import gptqmodel as gm\n", lines=(1,)),
        Case("from exllamav2 import ExLlamaV2, ExLlamaV2Config\n", lines=(1,)),
        Case(
            "try:\n    import awq_ext\nexcept ImportError:\n    awq_ext = None\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case("autoawq\nauto-gptq==0.7.1\n", filename="requirements/inference.txt", lines=(1, 2)),
        Case(
            "pip install --no-build-isolation auto-gptq\n",
            filename="setup_env.sh",
            lines=(1,),
            severity=Severity.ERROR,
        ),
    ),
)

recognise(RULE, QUANTIZERS)
