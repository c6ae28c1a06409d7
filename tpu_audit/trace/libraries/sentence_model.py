"""sentence-transformers models: the transformer, and the modules listed after it, as one chain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from tpu_audit.trace import build
from tpu_audit.trace.libraries.making import making
from tpu_audit.trace.libraries.pooling import (
    Dense,
    Features,
    LayerNorm,
    Normalize,
    Pooling,
    modes_of,
)
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import TraceSettings

_TRANSFORMER = "Transformer"
_SKIPPED = frozenset({"Dropout"})
"""Modules that do nothing in evaluation."""
_ENCODERS = {"t5": "T5EncoderModel", "mt5": "MT5EncoderModel"}
"""Model types of which sentence-transformers loads the encoder alone."""


class SentenceModel(nn.Module):
    """Token ids in, an embedding a text out. Modules are numbered as the repository's folders."""

    main_input_name = "input_ids"

    def __init__(self, transformer: nn.Module, others: list[nn.Module]) -> None:
        super().__init__()
        self.chain = nn.ModuleList([transformer, *others])

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        token_type_ids: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return ``sentence_embedding``; without pooling, ``token_embeddings``."""
        extra = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        out = self.chain[0](input_ids=input_ids, attention_mask=attention_mask, **extra)
        features: Features = {"token_embeddings": out[0], "attention_mask": attention_mask}
        for module in self.chain[1:]:
            features = module(features)
        return features.get("sentence_embedding", features["token_embeddings"])


def build_model(
    spec: ModelSpec, settings: TraceSettings, device: str
) -> tuple[nn.Module, Any, list[str]]:
    """Build the chain; (model in eval mode, the transformer's config, assumptions).

    Raises NotAuditedError: the transformer's own, or a skip with code ``unsupported_module``.
    """
    if not spec.modules:
        return build.build_model(spec, settings, device)
    kinds = [_kind(module) for module in spec.modules]
    if kinds[0] != _TRANSFORMER:
        raise _unsupported(kinds[0])
    transformer, config, assumptions = build.build_model(_base(spec), settings, device)
    with making("the chain", getattr(torch, settings.dtype), device, _HINT):
        made = [_module(kind, module.get("config", {})) for kind, module in _after(spec)]
    model = SentenceModel(transformer, made).eval()
    build.move_and_forget(model, device)
    assumptions = [a for a in assumptions if "names no architecture" not in a]
    return model, config, [*assumptions, f"modules: {' -> '.join(kinds)}"]


_HINT = "check the config.json in the folders that modules.json names"


def _base(spec: ModelSpec) -> ModelSpec:
    """Ask for the model without a head, which is what sentence-transformers loads."""
    name = _ENCODERS.get(spec.model_type or "")
    if spec.needs_remote_code:
        return spec
    return replace(spec, config={**spec.config, "architectures": [name] if name else None})


def _after(spec: ModelSpec) -> list[tuple[str, Mapping[str, Any]]]:
    kept = [(_kind(module), module) for module in spec.modules[1:]]
    return [(kind, module) for kind, module in kept if kind not in _SKIPPED]


def _kind(module: Mapping[str, Any]) -> str:
    return str(module["type"]).rpartition(".")[2]


def _module(kind: str, config: Mapping[str, Any]) -> nn.Module:
    make = _MAKERS.get(kind)
    if make is None:
        raise _unsupported(kind)
    return make(config)


def _dense(config: Mapping[str, Any]) -> nn.Module:
    return Dense(
        config["in_features"],
        config["out_features"],
        bias=bool(config.get("bias", True)),
        activation=_activation(config.get("activation_function")),
    )


def _activation(path: object) -> nn.Module:
    """Make the activation that a path names: ``torch.nn.modules.activation.Tanh``."""
    name = str(path or "Tanh").rpartition(".")[2]
    made: nn.Module = getattr(nn, name)()
    return made


_MAKERS: Mapping[str, Callable[[Mapping[str, Any]], nn.Module]] = {
    "Pooling": lambda config: Pooling(modes_of(config)),
    "Normalize": lambda config: Normalize(),  # noqa: ARG005 - it has no settings
    "Dense": _dense,
    "LayerNorm": lambda config: LayerNorm(config["dimension"]),
}
"""Class name -> how to make the module of its config."""


def _unsupported(kind: str) -> NotAuditedError:
    return NotAuditedError(
        f"modules of kind {kind} are not traced",
        stage=Stage.BUILD,
        code="unsupported_module",
        skipped=True,
        hint=f"traced are {_TRANSFORMER}, {', '.join(_MAKERS)}",
    )
