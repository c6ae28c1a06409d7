"""timm models: ``timm.create_model`` with the architecture and arguments that the config names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import torch

from tpu_audit.trace.build import move_and_forget
from tpu_audit.trace.libraries.extras import need
from tpu_audit.trace.libraries.making import making
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from torch import nn

    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import TraceSettings


def build_model(
    spec: ModelSpec, settings: TraceSettings, device: str
) -> tuple[nn.Module, Any, list[str]]:
    """Build the architecture; (model in eval mode, its pretrained config, assumptions).

    Raises NotAuditedError at stage ``build``.
    """
    timm = need("timm")
    name = spec.architecture or ""
    if not timm.is_model(name):
        raise NotAuditedError(
            f"timm {timm.__version__} has no architecture {name}",
            stage=Stage.BUILD,
            code="unknown_architecture",
            hint="check the spelling of `architecture`, or install the timm that has it",
        )
    dtype: torch.dtype = getattr(torch, settings.dtype)
    hint = "check that timm.create_model takes the model_args in config.json"
    with making(name, dtype, device, hint):
        model: nn.Module = timm.create_model(
            name,
            pretrained=False,
            pretrained_cfg=_pretrained_config(spec, timm),
            **_arguments(spec.config),
        )
    model.to(dtype=dtype).eval()
    move_and_forget(model, device)
    return model, getattr(model, "pretrained_cfg", {}), []


def _pretrained_config(spec: ModelSpec, timm: Any) -> dict[str, Any]:
    """Return the fields of a pretrained config, which older files spread over the top level."""
    nested = spec.config.get("pretrained_cfg")
    content = dict(nested) if isinstance(nested, Mapping) else dict(spec.config)
    if "num_classes" in spec.config:
        content["num_classes"] = spec.config["num_classes"]
    known = {field.name for field in fields(timm.models.PretrainedCfg)}
    return {name: value for name, value in content.items() if name in known}


def _arguments(config: Mapping[str, Any]) -> dict[str, Any]:
    arguments = config.get("model_args")
    return dict(arguments) if isinstance(arguments, Mapping) else {}
