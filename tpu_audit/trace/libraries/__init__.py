"""How each library makes a model of a spec: one module a library, chosen by the spec's own word."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tpu_audit.trace.libraries.stand_ins import torchvision_ops
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from torch import nn

    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import TraceSettings

_MAKERS = {
    "diffusers": "tpu_audit.trace.libraries.diffusers_model",
    "timm": "tpu_audit.trace.libraries.timm_model",
    "peft": "tpu_audit.trace.libraries.peft_model",
    "sentence-transformers": "tpu_audit.trace.libraries.sentence_model",
}
"""Library -> module with ``build``. What is not here is built as transformers would."""

Built = tuple["nn.Module", Any, list[str]]
"""The model in eval mode on the device, its config object, assumptions."""


def build(spec: ModelSpec, settings: TraceSettings, device: str) -> Built:
    """Build the model of ``spec`` with the library that it belongs to.

    Raises NotAuditedError; a library that is not installed is a skip with code ``missing_extra``.
    """
    if spec.component and not spec.config:
        raise NotAuditedError(
            f"{spec.component}/config.json of {spec.id} is not there or cannot be read",
            stage=Stage.CONFIG,
            code="no_config",
            hint="the pipeline names this component: give a copy that holds its config",
        )
    torchvision_ops()  # transformers' image code imports torchvision wherever it is installed
    maker = import_module(_MAKERS.get(spec.library, "tpu_audit.trace.build"))
    built: Built = maker.build_model(spec, settings, device)
    return built
