"""The tensors of a model by a plain build on torch's meta device: nothing of tpu_audit in it."""

from __future__ import annotations

import copy
import math
import re
from dataclasses import dataclass
from typing import Any

Shape = tuple[int, ...]
Tensors = dict[str, Shape]

_LAYER = re.compile(r"(?:^|\.)(?:layers|h)\.(\d+)\.(.*)")
_TOWERS = ("vis", "audio", "encoder")
_ATTENTION = ("self_attn", "linear_attn", "attention", "attn")


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """Names and shapes; a tied tensor stands once."""

    parameters: Tensors
    kept_buffers: Tensors
    """Buffers that a checkpoint holds."""
    linear: frozenset[str]
    """Names of the weights that ``nn.Linear`` multiplies with."""

    @property
    def count(self) -> int:
        """Number of parameters."""
        return size(self.parameters)


def size(tensors: Tensors) -> int:
    """Return the number of elements."""
    return sum(map(math.prod, tensors.values()))


def weights_of(content: dict[str, Any], architecture: str) -> Weights:
    """Build a class of transformers from a config's content, without memory for weights."""
    import torch
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    content = copy.deepcopy(content)
    content.pop("quantization_config", None)
    model_class = getattr(transformers, architecture)
    known = content.get("model_type") in CONFIG_MAPPING
    config_class = CONFIG_MAPPING[content["model_type"]] if known else model_class.config_class
    config = config_class.from_dict(content)
    if not isinstance(config, model_class.config_class):
        config = config.get_text_config()
    with torch.device("meta"):
        model = model_class._from_config(config, dtype=torch.bfloat16)
    model.tie_weights()
    parameters = {name: tuple(p.shape) for name, p in model.named_parameters()}
    buffers = {name: tuple(b.shape) for name, b in model.named_buffers()}
    modules = model.named_modules()
    linear = {f"{name}.weight" for name, m in modules if isinstance(m, torch.nn.Linear)}
    return Weights(
        parameters=parameters,
        kept_buffers={name: buffers[name] for name in model.state_dict() if name in buffers},
        linear=frozenset(linear & parameters.keys()),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """One decoder layer: its attention or state space, its MLP or experts, and its norms."""

    mixing: Tensors
    feeding: Tensors
    rest: Tensors


def layers_of(weights: Weights) -> list[Layer]:
    """Return the decoder's layers in order."""
    found: dict[int, Tensors] = {}
    for name, shape in weights.parameters.items():
        match = _LAYER.search(name)
        if match and not any(tower in name[: match.start()] for tower in _TOWERS):
            found.setdefault(int(match[1]), {})[name] = shape
    return [_layer(found[number]) for number in sorted(found)]


def _layer(tensors: Tensors) -> Layer:
    groups: tuple[Tensors, Tensors, Tensors] = ({}, {}, {})
    for name, shape in tensors.items():
        match = _LAYER.search(name)
        part = match[2].split(".")[0] if match else ""
        groups[0 if part in _ATTENTION else 2 if "norm" in part else 1][name] = shape
    return Layer(mixing=groups[0], feeding=groups[1], rest=groups[2])
