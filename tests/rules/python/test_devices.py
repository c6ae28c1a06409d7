"""Places that take a device, and what is not PyTorch's device."""

from __future__ import annotations

import pytest

from tests.support.python_code import module_of
from tpu_audit.rules.python.devices import SinkKind

SINKS = {
    "torch.device": ('torch.device("cuda")', SinkKind.DEVICE),
    "torch.device by type": ('torch.device(type="cuda", index=0)', SinkKind.DEVICE),
    "device, imported": ('from torch import device\ndevice("cuda")', SinkKind.DEVICE),
    "to": ('x.to("cuda")', SinkKind.TO),
    "to by keyword": ('x.to(device="cuda")', SinkKind.KEYWORD),
    "factory": ('torch.zeros(2, device="cuda")', SinkKind.KEYWORD),
    "unknown function": ('build(torch_device="cuda")', SinkKind.KEYWORD),
    "map_location": ('torch.load(p, map_location="cuda")', SinkKind.MAP_LOCATION),
    "map_location by place": ('torch.load(p, "cuda")', SinkKind.MAP_LOCATION),
    "jit.load by place": ('torch.jit.load(p, "cuda")', SinkKind.MAP_LOCATION),
    "load_file by place": (
        'from safetensors.torch import load_file\nload_file(p, "cuda")',
        SinkKind.KEYWORD,
    ),
    "device_map": ('M.from_pretrained(n, device_map="cuda")', SinkKind.DEVICE_MAP),
    "generator": ('torch.Generator("cuda")', SinkKind.GENERATOR),
    "generator by keyword": ('torch.Generator(device="cuda")', SinkKind.GENERATOR),
    "default": ('torch.set_default_device("cuda")', SinkKind.DEFAULT),
    "autocast": ('torch.autocast("cuda")', SinkKind.AUTOCAST),
    "amp.autocast": ('torch.amp.autocast(device_type="cuda")', SinkKind.AUTOCAST),
    "assigned": ('device = "cuda"', SinkKind.ASSIGNED),
    "assigned upper": ('DEVICE: str = "cuda"', SinkKind.ASSIGNED),
    "assigned attribute": ('self.device = "cuda"', SinkKind.ASSIGNED),
    "entry": ('run({"device": "cuda"})', SinkKind.ENTRY),
    "entry by subscript": ('cfg["device"] = "cuda"', SinkKind.ENTRY),
    "double star": ('run(**{"device": "cuda"})', SinkKind.ENTRY),
}


@pytest.mark.parametrize(("source", "kind"), SINKS.values(), ids=SINKS)
def test_finds_sinks(source: str, kind: SinkKind) -> None:
    """Each place that takes a device is found once, with its kind."""
    module = module_of(source)
    found = [(sink.kind, module.code(sink.node)) for sink in module.sinks]
    assert found == [(kind, '"cuda"')]


NO_SINKS = {
    "another method": 'x.cast("cuda")',
    "another keyword": 'f(name="cuda")',
    "another variable": 'name = "cuda"',
    "jax file": 'import jax\nx = jax.device_put(y, device="cuda")',
    "jax file without jax's call": 'import jax.numpy as jnp\nrun(device="cuda")',
    "ctranslate2": 'import ctranslate2\nctranslate2.Translator(p, device="cuda")',
    "from another framework": (
        'from faster_whisper import WhisperModel\nWhisperModel(p, device="cuda")'
    ),
    "object of another framework": (
        'import xgboost as xgb\nm = xgb.XGBClassifier()\nm.set_params(device="cuda")'
    ),
}


@pytest.mark.parametrize("source", NO_SINKS.values(), ids=NO_SINKS)
def test_leaves_others_alone(source: str) -> None:
    """What takes no device of PyTorch's is not a sink."""
    assert module_of(source).sinks == ()


def test_jax_beside_torch_is_torch() -> None:
    """A file that imports both frameworks keeps its sinks."""
    module = module_of('import jax\nimport torch\nx = y.to("cuda")')
    assert len(module.sinks) == 1
