"""PEFT adapters: the base model, with the adapter's modules put in by peft itself."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from tpu_audit.trace import libraries
from tpu_audit.trace.build import move_and_forget
from tpu_audit.trace.libraries.extras import need
from tpu_audit.trace.libraries.making import making
from tpu_audit.types.errors import NotAuditedError, Stage, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import nn

    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import TraceSettings

_HINT = "check that peft takes this adapter_config.json for the base model"
_TASKS = {
    "CAUSAL_LM": "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "SEQ_2_SEQ_LM": "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    "SEQ_CLS": "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES",
    "TOKEN_CLS": "MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES",
    "QUESTION_ANS": "MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES",
    "FEATURE_EXTRACTION": "MODEL_MAPPING_NAMES",
}
"""Task of an adapter -> transformers' table of classes that peft loads the base model from."""


def build_model(
    spec: ModelSpec, settings: TraceSettings, device: str
) -> tuple[nn.Module, Any, list[str]]:
    """Build base model and adapter; (model in eval mode, the base's config, assumptions).

    Raises NotAuditedError at stage ``config`` or ``build``.
    """
    peft = need("peft")
    adapter: Mapping[str, Any] = spec.adapter or {}
    config = _adapter_config(peft, adapter)
    base, base_config, assumptions = libraries.build(_base(spec, adapter), settings, device)
    what = f"the {config.peft_type.value} adapter"
    # Some adapters compute with what their initialisation returns.
    with making(what, torch.float32, device, _HINT, initialise=True):
        wrapped = peft.get_peft_model(base, config)
    # Where modules are put into the base model, that is what runs; else peft's own forward is.
    model: nn.Module = wrapped if config.is_prompt_learning else wrapped.get_base_model()
    model.eval()
    move_and_forget(model, device)
    return model, base_config, [*assumptions, _words(config)]


def _words(config: Any) -> str:
    """Say what was put in: ``LORA adapter of rank 8, not merged, in float32 as peft loads it``."""
    rank = getattr(config, "r", None)
    ranked = f" of rank {rank}" if isinstance(rank, int) else ""
    return f"{config.peft_type.value} adapter{ranked}, not merged, in float32 as peft loads it"


def _adapter_config(peft: Any, adapter: Mapping[str, Any]) -> Any:
    """Read adapter_config.json; fields that this peft does not know are left out, as it does."""
    kind = adapter.get("peft_type")
    known = peft.mapping.PEFT_TYPE_TO_CONFIG_MAPPING
    if kind not in known:
        raise NotAuditedError(
            f"peft {peft.__version__} has no adapter of type {kind!r}",
            stage=Stage.CONFIG,
            code="unknown_adapter",
            hint="check peft_type in adapter_config.json",
        )
    accepted = inspect.signature(known[kind]).parameters
    content = {name: value for name, value in adapter.items() if name in accepted}
    try:
        # As it is for training: that the adapter may learn changes nothing without gradients.
        return known[kind](**{**content, "inference_mode": False})
    except Exception as error:
        raise NotAuditedError(
            f"peft rejects this adapter_config.json: {shorten(error)}",
            stage=Stage.CONFIG,
            code="invalid_config",
            hint=_HINT,
        ) from error


def _base(spec: ModelSpec, adapter: Mapping[str, Any]) -> ModelSpec:
    """Return the base model's spec, with the head that the adapter's task asks for."""
    from transformers.models.auto import modeling_auto

    library = "transformers"
    table = _TASKS.get(str(adapter.get("task_type")))
    names = getattr(modeling_auto, table, {}) if table else {}
    name = names.get(spec.model_type or "")
    config = dict(spec.config)
    if isinstance(name, str) and not spec.needs_remote_code:
        config["architectures"] = [name]
    return replace(spec, library=library, config=config, adapter=None)
