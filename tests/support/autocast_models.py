"""Traces small models under autocast on one device and prints the calls of each.

``python autocast_models.py pretended|torch_tpu``. Prints one line of JSON: name and dtype of the
weights -> calls, as ``tests/support/trace_models.py`` describes them.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

from tests.support.device import take_device
from tests.support.trace_models import MODELS, describe
from tpu_audit.trace.runner import trace_on_device
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import TraceSettings

NAMES = ("bert", "llama head 160", "t5", "mamba", "resnet", "detr", "whisper", "mixtral")


def trace_one(name: str, dtype: str) -> dict[str, Any]:
    """Trace one model with weights of ``dtype`` and autocast to bfloat16."""
    config, _ = MODELS[name]
    spec = ModelSpec(target=name, id=name, revision=None, config_source="local", config=config)
    settings = TraceSettings(dtype=dtype, seq_len=32, autocast="bfloat16")
    return describe(trace_on_device(spec, settings, "")[0])


def main() -> None:
    """Set up the device that the command line names, trace all models, print the answers."""
    warnings.simplefilter("ignore")
    take_device(sys.argv[1])
    dtypes = ("float32", "bfloat16")
    answers = {f"{name} {dtype}": trace_one(name, dtype) for name in NAMES for dtype in dtypes}
    sys.stdout.write("\n" + json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
