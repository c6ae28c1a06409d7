"""A process to fork from: all imported, the device pretended, and torch's own caches filled.

Most of the first trace in a process is spent on what torch works out once: signatures of its
decompositions, schemas, types. Forks of a process that has traced before inherit that.
"""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tpu_audit.types.model import ModelSpec

if TYPE_CHECKING:
    from op_registry.schema import Snapshot
    from tpu_audit.types.trace import TraceSettings

_SIZES: dict[str, Any] = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_attention_heads": 2,
    "num_hidden_layers": 1,
}
_MODELS: tuple[dict[str, Any], ...] = (
    {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 99, **_SIZES},
    {
        "architectures": ["ViTForImageClassification"],
        "model_type": "vit",
        "image_size": 16,
        "patch_size": 8,
        **_SIZES,
    },
)


def warm_up(registry: Snapshot, settings: TraceSettings) -> None:
    """Trace two small models in this process, forward and in generation.

    Not in training: autograd's threads do not survive a fork.
    """
    import torch
    import transformers.models.auto.configuration_auto
    import transformers.models.auto.modeling_auto  # noqa: F401 - shared by all forks

    from tpu_audit.trace.isolate import preload
    from tpu_audit.trace.runner import run_trace

    torch.set_num_threads(1)  # no threads, which forks would not have
    preload()
    for config in _MODELS:
        (forward,) = run_trace(_spec(config), settings, registry)
        if "prefill" in forward.applies:
            run_trace(_spec(config), replace(settings, phase="prefill"), registry)
    gc.freeze()


def _spec(config: dict[str, Any]) -> ModelSpec:
    return ModelSpec(
        target="warm", id="warm", revision=None, config_source="default", config=config
    )
