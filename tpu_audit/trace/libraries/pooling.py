"""What sentence-transformers runs after the transformer, with its own arithmetic.

Written anew so that no further package is needed: the module a config describes holds no code, and
a test compares each with the original. Every module takes and returns one mapping of features, of
which these three matter: ``token_embeddings`` (batch, tokens, width), ``attention_mask`` (batch,
tokens) and ``sentence_embedding`` (batch, width).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Features = dict[str, torch.Tensor]
_TINY = 1e-9
_LEGACY = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
"""Switches that a pooling config has one of each, in the order of their results."""


def modes_of(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ways to pool that a pooling config asks for. Raises ValueError for others."""
    named = config.get("pooling_mode")
    if named is None:
        switched = [mode for switch, mode in _LEGACY.items() if config.get(switch)]
        named = switched or ["mean"]
    modes = (named,) if isinstance(named, str) else tuple(named)
    unknown = [mode for mode in modes if mode not in POOLS]
    if unknown:
        raise ValueError(f"no such pooling: {unknown[0]!r} (known: {', '.join(POOLS)})")
    return modes


class Pooling(nn.Module):
    """From an embedding a token to one a text."""

    def __init__(self, modes: tuple[str, ...]) -> None:
        super().__init__()
        self.modes = modes

    def forward(self, features: Features) -> Features:
        """Add ``sentence_embedding``: the results of all modes, side by side."""
        tokens, mask = features["token_embeddings"], features["attention_mask"]
        pooled = [POOLS[mode](tokens, mask) for mode in self.modes]
        return features | {"sentence_embedding": torch.cat(pooled, dim=-1)}


class Normalize(nn.Module):
    """Embeddings of length one."""

    def forward(self, features: Features) -> Features:
        """Scale ``sentence_embedding``."""
        unit = functional.normalize(features["sentence_embedding"], p=2, dim=-1)
        return features | {"sentence_embedding": unit}


class Dense(nn.Module):
    """A linear layer and an activation."""

    def __init__(self, inputs: int, outputs: int, *, bias: bool, activation: nn.Module) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=bias)
        self.activation_function = activation

    def forward(self, features: Features) -> Features:
        """Project ``sentence_embedding``."""
        projected = self.activation_function(self.linear(features["sentence_embedding"]))
        return features | {"sentence_embedding": projected}


class LayerNorm(nn.Module):
    """Normalisation over the width."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, features: Features) -> Features:
        """Normalise ``sentence_embedding``."""
        return features | {"sentence_embedding": self.norm(features["sentence_embedding"])}


def _cls(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Take the first token that is no padding."""
    first = mask.to(torch.int).argmax(dim=1)
    index = first.unsqueeze(-1).unsqueeze(1).expand(-1, 1, tokens.shape[-1])
    return torch.gather(tokens, 1, index).squeeze(1)


def _max(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    wide = mask.unsqueeze(-1).expand_as(tokens).to(tokens.dtype)
    return tokens.masked_fill(wide == 0, float("-inf")).max(dim=1).values


def _mean(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    total, count = _sums(tokens, mask)
    return (total / count).to(tokens.dtype)


def _mean_sqrt_len(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    total, count = _sums(tokens, mask)
    return (total / torch.sqrt(count)).to(tokens.dtype)


def _sums(tokens: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    wide, precise = mask.unsqueeze(-1).to(tokens.dtype), _precise(tokens)
    count = torch.clamp(wide.sum(dim=1, dtype=precise), min=_TINY)
    return (tokens * wide).sum(dim=1, dtype=precise), count


def _weighted_mean(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Weigh each token by its place, counted from the first that is no padding."""
    precise = _precise(tokens)
    places = torch.arange(1, tokens.shape[1] + 1, device=tokens.device, dtype=precise)
    padding = mask.to(torch.int32).argmax(dim=1).view(-1, 1, 1)
    weights = mask.unsqueeze(-1).to(precise) * (places.view(1, -1, 1) - padding)
    total = (tokens * weights).sum(dim=1)
    return (total / torch.clamp(weights.sum(dim=1), min=_TINY)).to(tokens.dtype)


def _last(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Take the last token that is no padding."""
    length = tokens.shape[1]
    values, indices = mask.flip(1).max(1)
    indices = torch.where(values == 0, length - 1, indices)
    index = (length - indices - 1).unsqueeze(-1).unsqueeze(1).expand(-1, 1, tokens.shape[-1])
    wide = mask.unsqueeze(-1).expand_as(tokens).to(tokens.dtype)
    return torch.gather(tokens * wide, 1, index).squeeze(dim=1)


def _precise(tokens: torch.Tensor) -> torch.dtype:
    """Return the dtype to add up in."""
    reduced = tokens.dtype in {torch.float16, torch.bfloat16}
    return torch.float32 if reduced else tokens.dtype


POOLS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "cls": _cls,
    "max": _max,
    "mean": _mean,
    "mean_sqrt_len_tokens": _mean_sqrt_len,
    "weightedmean": _weighted_mean,
    "lasttoken": _last,
}
"""Name -> (token embeddings, mask) -> one embedding a text."""
