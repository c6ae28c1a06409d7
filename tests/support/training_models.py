"""Traces a training step of small models on one device and prints the calls of each.

``python training_models.py pretended|torch_tpu``. Autograd's engine cannot run on the wheel without
a device, so that on both the nodes are called one by one. Prints one line of JSON: name -> role and
op -> calls.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter
from typing import Any

import torch

from tests.support.backward_probe import backward
from tests.support.device import take_device
from tests.support.trace_models import MODELS
from tpu_audit.trace.runner import trace_on_device
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import TraceSettings

NAMES = ("bert", "llama head 64", "llama head 160", "t5", "resnet", "convnext", "mixtral", "mamba")


def _engine(loss: torch.Tensor, *_: Any, **__: Any) -> None:
    with torch.no_grad():
        backward(loss)


def trace_one(name: str) -> dict[str, int]:
    """Trace one model."""
    config, dtype = MODELS[name]
    spec = ModelSpec(target=name, id=name, revision=None, config_source="local", config=config)
    trace = trace_on_device(spec, TraceSettings(phase="train", dtype=dtype, seq_len=32), "")[0]
    calls: Counter[str] = Counter()
    for use in trace.ops:
        calls[f"{use.role} {use.op}"] += use.count
    return dict(calls)


def main() -> None:
    """Set up the device that the command line names, trace all models, print the answers."""
    warnings.simplefilter("ignore")
    take_device(sys.argv[1])
    torch.Tensor.backward = _engine  # type: ignore[method-assign, assignment]
    answers = {name: trace_one(name) for name in NAMES}
    sys.stdout.write("\n" + json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
