"""The table of quantisation methods, held against the transformers that is installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

# Before torch is imported: an installed torch-tpu would take the device that is pretended here.
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

from op_registry import loader
from tpu_audit.audit.detectors.quantised import describe
from tpu_audit.audit.quantisation import OTHER, SCHEMES, Fate
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Callable

    from tpu_audit.audit.code import Said

SNAPSHOT = loader.load("0.2.0")


def _said(config: Any) -> Said:
    spec = ModelSpec(
        target="t",
        id="t",
        revision=None,
        config_source="local",
        config={"quantization_config": config},
    )
    found = describe(spec, SNAPSHOT)
    assert found is not None
    return found


def test_every_method_of_transformers_has_an_entry() -> None:
    """The table names exactly the methods for which transformers has a quantizer."""
    from transformers.quantizers.auto import AUTO_QUANTIZER_MAPPING

    assert set(SCHEMES) == set(AUTO_QUANTIZER_MAPPING)


@pytest.mark.parametrize("method", [*SCHEMES, "other"])
def test_quotes_stand_in_the_source(method: str) -> None:
    """What an entry rests on can be read in the file that it names."""
    import transformers

    scheme = SCHEMES.get(method, OTHER)
    text = (Path(transformers.__file__).parent / scheme.source).read_text("utf-8")
    assert scheme.quotes
    assert [quote for quote in scheme.quotes if quote not in text] == []


def _quantizer(method: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make a quantizer for a checkpoint, on a machine that has every package and no GPU."""
    import torch
    from transformers.quantizers.auto import AUTO_QUANTIZER_MAPPING

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    cls: Any = AUTO_QUANTIZER_MAPPING[method]
    module = sys.modules[cls.__module__]
    for name in vars(module):
        hardware = any(word in name for word in ("cuda", "xpu"))
        if name.startswith("is_") and name.endswith("_available") and not hardware:
            monkeypatch.setattr(module, name, lambda *_: True)
    made: Any = cls.__new__(cls)
    made.pre_quantized = True
    made.quantization_config = SimpleNamespace(dequantize=False, pseudoquantization=False)
    return made


@pytest.mark.parametrize("method", [m for m, s in SCHEMES.items() if s.fate is Fate.REFUSED])
def test_refused_without_a_gpu(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a quantizer raises for the lack of a GPU alone: every package is there."""
    quantizer = _quantizer(method, monkeypatch)
    with pytest.raises((ImportError, RuntimeError, NotImplementedError, ValueError)) as caught:
        quantizer.validate_environment(device_map=None)
    assert "GPU" in str(caught.value) or "pre-quantized" in str(caught.value)


@pytest.mark.parametrize("method", [m for m, s in SCHEMES.items() if s.fate is Fate.DENSE])
def test_dense_without_a_gpu(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a quantizer turns to dequantising by itself."""
    quantizer = _quantizer(method, monkeypatch)
    if method == "gguf":
        quantizer.supported = True
        quantizer.header = SimpleNamespace(has_quantized_weights=True)
        monkeypatch.setattr(
            sys.modules[type(quantizer).__module__], "get_gguf_kernel", lambda: None
        )
    if method == "mxfp4":
        import torch

        monkeypatch.setattr(
            sys.modules[type(quantizer).__module__],
            "get_current_accelerator",
            lambda: torch.device("meta"),
            raising=False,
        )
    quantizer.validate_environment(device_map=None)
    assert quantizer.quantization_config.dequantize is True


def _layer(method: str) -> tuple[Callable[[], Any], int]:
    from transformers.integrations import bitnet, gemma_quant

    if method == "bitnet":
        import torch

        return lambda: bitnet.BitLinear(64, 32, bias=False, dtype=torch.bfloat16), 64
    return lambda: gemma_quant.QuantizedLinear(64, 32, num_bits=4), 64


@pytest.mark.parametrize("method", [m for m, s in SCHEMES.items() if s.fate is Fate.PLAIN])
def test_ops_of_plain_layers(method: str) -> None:
    """The ops of an entry are those that a trace of transformers' own layer shows."""
    import torch

    from tpu_audit.trace import shadow
    from tpu_audit.trace.device import pretend
    from tpu_audit.trace.fake import fake_mode, patched_for_fakes
    from tpu_audit.trace.places import Places
    from tpu_audit.trace.recorder import Recorder

    pretend(loader.load(None))
    shadow.forget_all()
    recorder = Recorder(Places())
    make, width = _layer(method)
    with (
        patched_for_fakes(),
        fake_mode(),
        recorder,
        torch.no_grad(),
        torch.compiler.set_stance("force_eager"),
    ):
        with torch.device("tpu"):
            layer = make().to("tpu")
            x = torch.empty(1, 8, width, dtype=torch.bfloat16)
        recorder.enter("forward")
        layer(x)
        recorder.enter(None)
    found = {use.op for use in recorder.ledgers["forward"].uses()}
    assert found == set(SCHEMES[method].ops)


@pytest.mark.parametrize(
    ("config", "severity", "words"),
    [
        ({"quant_method": "higgs"}, Severity.ERROR, "refuses"),
        ({"quant_method": "fp8"}, Severity.INFO, "dequantises while loading"),
        ({"quant_method": "gptq", "bits": 4}, Severity.WARNING, "gptqmodel"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, Severity.WARNING, "bitsandbytes"),
        ({"load_in_8bit": True}, Severity.WARNING, "bitsandbytes"),
        ({"quant_method": "bitnet"}, Severity.WARNING, "all 15 ops they call native"),
        ({"quant_method": "compressed-tensors"}, Severity.WARNING, "_scaled_mm_v2.default"),
        ({"quant_method": "fbgemm_fp8"}, Severity.ERROR, "f8f8bf16_rowwise.default unknown"),
        ({"quant_method": "modelopt"}, Severity.ERROR, "no loader"),
        ({"quant_algo": "FP8"}, Severity.ERROR, "(unnamed)"),
        (["nonsense"], Severity.ERROR, "(unnamed)"),
    ],
)
def test_judgements(config: Any, severity: Severity, words: str) -> None:
    """Each fate has its severity and its sentence, also for configs that are out of order."""
    said = _said(config)
    assert said.severity is severity
    assert words in said.message
    assert "traced is the dense model" in said.message
    assert said.fix


def test_a_way_to_the_dense_weights_is_named() -> None:
    """Where the loader can dequantise, the fix says how."""
    assert "dequantize=True" in _said({"quant_method": "compressed-tensors"}).fix
    assert "dequantize()" in _said({"quant_method": "bitsandbytes", "load_in_8bit": True}).fix


@pytest.mark.parametrize("config", [None, {}, False])
def test_no_quantisation(config: Any) -> None:
    """A config without the field, or with nothing in it, says nothing."""
    spec = ModelSpec(
        target="t",
        id="t",
        revision=None,
        config_source="local",
        config={"quantization_config": config},
    )
    assert describe(spec, SNAPSHOT) is None
